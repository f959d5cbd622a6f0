//go:build unix && !linux

package sandbox

// layers is empty: this system has no overlays.
type layers struct{}

func (*layers) close() {}

func (*layers) show(*plan, *Sandbox) {}
