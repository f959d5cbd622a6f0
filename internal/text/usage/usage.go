// Package usage reports user mistakes on the command line, in a named file or in a request. The
// error has a message and a next step, and makes the program exit with the usage status.
//
// The one rule: only mistakes that the user can fix belong here.
//
// Start reading at Mistake. Known limits: none that are known.
package usage

import (
	"fmt"
	"slices"
	"strings"
)

// Error is a user mistake: lower case, without a full stop, and the next step.
type Error struct{ Message, Hint string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Mistake returns an Error with a next step and a message.
func Mistake(hint, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), hint}
}

// most is the number of hints in an error; users do not read more.
const most = 3

// Hints selects the hints for an error from lines, the likeliest first, and puts the shortest
// first. Empty lines are ignored.
func Hints(lines ...string) string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "" })
	lines = lines[:min(len(lines), most)]
	slices.SortStableFunc(lines, func(a, b string) int { return len(a) - len(b) })
	return strings.Join(lines, "\n")
}
