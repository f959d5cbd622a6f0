// Package usage is a mistake of the person who started adze: on the command line, in a file they named, in what they
// asked for. It carries what happened and the next move, and ends a program with the code for wrong usage.
//
// The one rule: only what the person can mend is a mistake of theirs.
//
// Start reading at Mistake. Known limits: none that are known.
package usage

import "fmt"

// Error is the mistake: lower case, without a full stop, and the next move.
type Error struct{ Message, Hint string }

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Mistake makes an error from the next move and what happened.
func Mistake(hint, format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...), hint}
}
