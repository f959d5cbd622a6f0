//go:build unix && !linux

package box

import (
	"syscall"

	"adze/internal/proc/shim/witness"
)

// Build refuses every box: nothing here could hold one.
func (b Box) Build() error {
	if b.Empty() {
		return nil
	}
	return &Fault{"sandbox", syscall.ENOSYS}
}

// Confine has nothing to do.
func (b Box) Confine() (*witness.Witness, error) { return nil, nil }

// Watch is of nobody.
func Watch() *witness.Witness { return nil }

// Compiled is none.
func (b Box) Compiled() Code { return "" }
