// Package posix gives tests features that only some systems have. Elsewhere it skips the test.
//
// The one rule: no program imports it. Start reading at Fifo.
package posix

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/windows"
)

// Fifo skips the test.
func Fifo(t testing.TB, _ string) error {
	t.Helper()
	t.Skip("Windows has no FIFOs in folders")
	return nil
}

// Alive reports whether a process exists.
func Alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(h)
	state, err := windows.WaitForSingleObject(h, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// Kill kills a process.
func Kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// Stop skips the test.
func Stop(t testing.TB, _ int) error {
	t.Helper()
	t.Skip("Windows does not stop processes")
	return nil
}

// Cont skips the test.
func Cont(t testing.TB, pid int) error {
	t.Helper()
	return Stop(t, pid)
}

// Group does nothing: a program ends alone.
func Group(*exec.Cmd) {}

// Signal kills the process, whatever the signal.
func Signal(pid int, _ syscall.Signal) error { return Kill(pid) }
