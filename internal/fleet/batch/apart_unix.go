//go:build unix

package batch

import (
	"os"
	"syscall"
)

// apart has the child stand in a process group of its own.
func apart() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(a)
	return a
}

// interrupt tells a child to end, as Ctrl-C does.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGINT) }
