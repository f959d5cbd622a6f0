package sandbox

import "adze/internal/sandbox/proc"

func builders() map[Technique]func(plan) (proc.Confinement, error) {
	return map[Technique]func(plan) (proc.Confinement, error){Seatbelt: bySeatbelt}
}

func usual() []Technique { return []Technique{Seatbelt} }

func lacksOfLandlock() []string { return nil }
