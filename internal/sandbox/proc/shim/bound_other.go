//go:build unix && !linux

package shim

// bound has no process tree to look at.
func (s *supervisor) bound(uint64, uint64) {}
