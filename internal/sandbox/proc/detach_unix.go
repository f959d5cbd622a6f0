//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// startDetached starts a command in a session of its own.
func startDetached(command func() *exec.Cmd) (*exec.Cmd, error) {
	c := command()
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c, c.Start()
}
