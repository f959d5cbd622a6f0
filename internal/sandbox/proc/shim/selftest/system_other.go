//go:build unix && !linux

package selftest

// ofSystem knows none.
func ofSystem() map[string]func(string) error { return nil }
