package run_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// unread is how many bytes a pipe holds.
func unread(t *testing.T, f *os.File) int {
	t.Helper()
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
