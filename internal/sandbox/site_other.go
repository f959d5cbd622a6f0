//go:build unix && !linux

package sandbox

func (s *site) serveSockets() error { return nil }
