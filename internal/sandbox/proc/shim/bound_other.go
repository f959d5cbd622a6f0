//go:build unix && !linux

package shim

// bound does nothing without a process tree.
func (s *supervisor) bound(uint64, uint64) {}
