package session

import "errors"

// Two answers of which nothing runs: one that was cut at the output limit, and one that the model's server could not read.

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

// stumbled is the failure of an answer in which the model's server could not read a call, or nil.
func stumbled(failed error) *ProviderError {
	var p *ProviderError
	if !errors.As(failed, &p) || p.Stumble == "" {
		return nil
	}
	return p
}

// correction tells the model what its server made of its answer.
func (e *ProviderError) correction() string {
	return "Your last answer could not be read, and nothing of it was run: " + e.Message + ".\nYou wrote:\n" + e.Stumble +
		"\nCall the tool again, with the exact name of a tool that you have and its arguments as one JSON object, or answer in words."
}
