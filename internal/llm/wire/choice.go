package wire

import "adze/session"

// Chosen is a tool choice as OpenAI's formats write it: nothing, a word, or what only makes of the
// name of the tool that must be called.
func Chosen(c session.Choice, only func(name string) any) any {
	switch c {
	case session.ChooseFreely:
		return nil
	case session.ChooseNone, session.ChooseSome:
		return string(c)
	}
	return only(string(c))
}
