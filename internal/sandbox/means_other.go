//go:build unix && !linux && !darwin

package sandbox

import "adze/internal/sandbox/proc"

func builders() map[Means]func(plan) (proc.Walls, error) { return nil }

func usual() []Means { return nil }

func lacksOfLandlock() []string { return nil }
