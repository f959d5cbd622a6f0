package mcp

import "errors"

// sentence is an error as the user reads it: where something in it says in one sentence what
// happened and what to do next, that alone, without who passed it on.
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
