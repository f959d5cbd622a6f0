//go:build unix && !linux && !darwin

package sandbox

import "adze/internal/sandbox/proc"

func builders() map[Means]func(plan) (proc.Walls, error) { return nil }

func usual() []Means { return nil }

// lacksOfLandlock has nothing to say: there is none.
func lacksOfLandlock() []string { return nil }
