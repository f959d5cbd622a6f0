// Package usage is a mistake of the user who started adze: on the command line, in a file they
// named, in what they asked for. It carries what happened and the next move, and ends a program
// with the code for wrong usage.
//
// The one rule: only what the user can mend is a mistake of theirs.
//
// Start reading at Mistake. Known limits: none that are known.
package usage

import (
	"fmt"
	"slices"
	"strings"
)

// Error is the mistake: lower case, without a full stop, and the next move.
type Error struct{ Message, Hint string }

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Mistake makes an error from the next move and what happened.
func Mistake(hint, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), hint}
}

// most is how many hints an error has: who reads more of them does none.
const most = 3

// Hints makes the hint of an error: of the lines, the likeliest first, those that a user can take
// in, the shortest of them first. Empty ones do not count.
func Hints(lines ...string) string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l == "" })
	lines = lines[:min(len(lines), most)]
	slices.SortStableFunc(lines, func(a, b string) int { return len(a) - len(b) })
	return strings.Join(lines, "\n")
}
