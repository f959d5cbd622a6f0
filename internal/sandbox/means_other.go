//go:build unix && !linux && !darwin

package sandbox

import "adze/internal/sandbox/proc"

func builders() map[Technique]func(plan) (proc.Confinement, error) { return nil }

func usual() []Technique { return nil }

func lacksOfLandlock() []string { return nil }
