//go:build unix

package input

import (
	"io"
	"runtime"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// waiting returns how many bytes a terminal has ready.
func waiting(in io.Reader) int {
	f, ok := in.(term.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return 0
	}
	fionread := uint(0x4004667f) // BSD and macOS
	if runtime.GOOS == "linux" {
		fionread = 0x541b
	}
	n, err := unix.IoctlGetInt(int(f.Fd()), fionread)
	if err != nil {
		return 0
	}
	return n
}
