package sandbox

import "adze/internal/sandbox/proc"

func builders() map[Means]func(plan) (proc.Walls, error) {
	return map[Means]func(plan) (proc.Walls, error){Seatbelt: bySeatbelt}
}

func usual() []Means { return []Means{Seatbelt} }

func lacksOfLandlock() []string { return nil }
