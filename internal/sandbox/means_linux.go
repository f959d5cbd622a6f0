package sandbox

import "adze/internal/sandbox/proc"

// builders returns this system's means; usual has the order in which they are tried.
func builders() map[Means]func(plan) (proc.Walls, error) {
	return map[Means]func(plan) (proc.Walls, error){Namespaces: byNamespaces, Landlock: byLandlock}
}

func usual() []Means { return []Means{Namespaces, Landlock} }
