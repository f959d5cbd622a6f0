package sandbox

import "adze/internal/sandbox/proc"

// builders returns this system's means; usual has the order in which they are tried.
func builders() map[Technique]func(plan) (proc.Confinement, error) {
	return map[Technique]func(plan) (proc.Confinement, error){Namespaces: byNamespaces, Landlock: byLandlock}
}

func usual() []Technique { return []Technique{Namespaces, Landlock} }
