//go:build unix

package sandbox

import (
	"adze/internal/sandbox/proc"
)

// ByMeans is a cage of one means, whatever a self-test says of it.
func ByMeans(s *Sandbox, m Technique) proc.Cage {
	return cageFunc(func(c proc.Command) (proc.Confinement, error) { return s.by(m, c) })
}

var _ proc.Cage = cageFunc(nil)
