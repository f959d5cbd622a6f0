package wire

import "adze/session"

// EncodeChoice encodes a tool choice for OpenAI's formats: nil, a word, or the result of only for a
// required tool.
func EncodeChoice(c session.Choice, only func(name string) any) any {
	switch c {
	case session.ChooseFreely:
		return nil
	case session.ChooseNone, session.ChooseSome:
		return string(c)
	}
	return only(string(c))
}
