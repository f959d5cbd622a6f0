//go:build !linux && !windows

package fsnotify

func newEntryBell(...string) (*Bell, error) { return nil, ErrUnavailable }
