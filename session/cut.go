package session

import "errors"

// errCut ends a turn whose answer was cut at the model's output limit.
var errCut = errors.New("the answer was cut at the model's output limit")

// cutCall is an answer that was cut inside a call, or behind one. None of its calls may run: of those that look whole
// nobody knows what was to follow.
type cutCall struct{ name string }

func (c *cutCall) Error() string { return errCut.Error() + " inside a call of " + c.name }
func (c *cutCall) Unwrap() error { return errCut }

// advice tells the model what became of its answer.
func (c *cutCall) advice() string {
	return "Your last answer was cut at the output limit inside a call of " + c.name + ". Nothing of it was run. " +
		"Write it in smaller pieces, such as a file in several calls, and with few words around them."
}

// cutOff ends an answer that was cut. Its text is kept.
func (d *draft) cutOff() error {
	if n := len(d.calls); n > 0 {
		return &cutCall{d.calls[n-1].Name}
	}
	if d.forming != "" {
		return &cutCall{d.forming}
	}
	return errCut
}
