//go:build !linux

package fsnotify

// Watch is a set of watched folders; here there is none.
type Watch struct{}

// New returns ErrUnavailable.
func New(int, int) (*Watch, error) { return nil, ErrUnavailable }

// NewBell returns ErrUnavailable.
func NewBell(...string) (*Bell, error) { return nil, ErrUnavailable }

// Close does nothing.
func (*Watch) Close() {}

// Watching is always false.
func (*Watch) Watching(string) bool { return false }

// Add returns ErrUnavailable.
func (*Watch) Add(int, string) error { return ErrUnavailable }

// Drain knows nothing.
func (*Watch) Drain(c *Changed) { c.All = true }
