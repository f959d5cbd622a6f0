//go:build !linux

package entry

import "errors"

// ErrUnsupported means that this system has no views.
var ErrUnsupported = errors.New("there are no views of folders here")

// StatOf returns ErrUnsupported.
func StatOf(string) (Stat, error) { return Stat{}, ErrUnsupported }

// DatabaseInUse returns "".
func DatabaseInUse(string) string { return "" }
