//go:build !linux

package fsnotify

// NewBell returns ErrUnavailable.
func NewBell(...string) (*Bell, error) { return nil, ErrUnavailable }
