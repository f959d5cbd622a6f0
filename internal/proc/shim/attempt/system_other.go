//go:build unix && !linux

package attempt

// ofSystem knows none.
func ofSystem() map[string]func(string) error { return nil }
