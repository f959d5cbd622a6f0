package session

import "errors"

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
