//go:build unix

package proc

import (
	"syscall"

	"adze/internal/sandbox/proc/shim"
)

func (w Confinement) starts(own []string) (program string, argv []string) {
	if len(w.Argv) == 0 {
		return selfPath(), own
	}
	return w.Argv[0], append(append([]string{}, w.Argv...), own[1:]...)
}

func (w Confinement) attributes() *syscall.SysProcAttr {
	sys := syscall.SysProcAttr{}
	if w.Sys != nil {
		sys = *w.Sys
	}
	sys.Setsid = true
	return &sys
}

func explain(e shim.Event) string {
	if e.Errno == 0 {
		return e.Step
	}
	return e.Step + ": " + e.Errno.Error()
}
