//go:build !linux

package entry

import "errors"

// ErrUnsupported says that entries are not looked at here.
var ErrUnsupported = errors.New("there are no views of folders here")

// StatOf fails.
func StatOf(string) (Stat, error) { return Stat{}, ErrUnsupported }

// DatabaseInUse sees none.
func DatabaseInUse(string) string { return "" }
