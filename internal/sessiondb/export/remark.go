package export

import "adze/internal/text/hypertext"

// marks returns the marks after an answer's clauses in the page: the call that supports one, or
// that there is none.
func (m Message) marks() (out []hypertext.Mark) {
	if m.End == nil {
		return nil
	}
	for _, c := range m.End.Claims {
		out = append(out, hypertext.Mark{Quote: c.Quote, Text: c.Mark()})
	}
	for _, e := range m.End.Evidence {
		out = append(out, hypertext.Mark{Quote: e.Quote, Text: e.Mark()})
	}
	return out
}

// lastText returns the index of the marked text part, or a negative number without one.
func (m Message) lastText() int {
	for i := len(m.Parts) - 1; i >= 0; i-- {
		if m.Parts[i].Text != "" {
			return i
		}
	}
	return -1
}
