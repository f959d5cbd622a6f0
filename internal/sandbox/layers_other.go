//go:build unix && !linux

package sandbox

// layers are of nothing: there are no overlays on this system.
type layers struct{}

func (*layers) close() {}

func (*layers) show(*plan, *Sandbox) {}
