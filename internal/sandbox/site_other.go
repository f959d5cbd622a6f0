//go:build unix && !linux

package sandbox

// serveSockets serves no others.
func (s *site) serveSockets() error { return nil }
