//go:build unix

package batch

import (
	"os"
	"syscall"
)

// apart starts the child in its own process group.
func apart() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(a)
	return a
}

// interrupt asks a child to end, like Ctrl-C.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGINT) }
