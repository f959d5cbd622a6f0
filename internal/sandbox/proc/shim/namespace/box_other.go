//go:build !linux

package namespace

import (
	"syscall"

	"adze/internal/sandbox/proc/shim/seccomptrace"
)

// Build refuses every box: nothing here could hold one.
func (b Box) Build() error {
	if b.Empty() {
		return nil
	}
	return &Fault{"sandbox", syscall.ENOSYS}
}

// Confine has nothing to do.
func (b Box) Confine() (*seccomptrace.Witness, error) { return nil, nil }

// Hold is of nothing: there are no views here.
func Hold([]string) (exit int, ours bool) { return 0, false }
