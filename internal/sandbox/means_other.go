//go:build unix && !linux

package sandbox

import "adze/internal/proc"

func builders() map[Means]func(plan) (proc.Walls, error) { return nil }

func usual() []Means { return nil }
