package stdio

import (
	"os"

	"golang.org/x/sys/windows"
)

// ClosedAtStart reports whether this process was started without a stdout.
func ClosedAtStart(stdout *os.File) bool {
	h := windows.Handle(stdout.Fd())
	if h == 0 || h == windows.InvalidHandle {
		return true
	}
	_, err := windows.GetFileType(h)
	return err != nil
}
