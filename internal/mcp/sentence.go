package mcp

import "errors"

// sentence shortens an error for the user: if a wrapped error states in one sentence the problem
// and the next step, it returns that one alone.
func sentence(err error) error {
	var next interface {
		error
		Next() string
	}
	if !errors.As(err, &next) || next.Next() == "" {
		return err
	}
	return sentenceError{text: next.Error() + "; " + next.Next(), err: err}
}

type sentenceError struct {
	text string
	err  error
}

func (e sentenceError) Error() string { return e.text }
func (e sentenceError) Unwrap() error { return e.err }
