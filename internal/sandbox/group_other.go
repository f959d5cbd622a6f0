//go:build unix && !linux

package sandbox

import "adze/internal/sandbox/proc"

// boundMemory does nothing: only Linux has control groups.
func (s *Sandbox) boundMemory(*proc.Walls) {}

// MemoryBound says what bounds the memory of commands.
func (s *Sandbox) MemoryBound() string { return "" }
