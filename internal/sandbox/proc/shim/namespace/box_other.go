//go:build !linux

package namespace

import (
	"syscall"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// Build returns an error for every box except the empty one.
func (b Box) Build() error {
	if b.Empty() {
		return nil
	}
	return &Fault{"sandbox", syscall.ENOSYS}
}

// Confine does nothing.
func (b Box) Confine() (*seccomptrace.Listener, error) { return nil, nil }

// Hold does nothing: this system has no views.
func Hold([]string) (exit int, ours bool) { return 0, false }
