package export

import (
	"strings"

	"adze/internal/text/markdown"
)

// remarks are what stands behind clauses of an answer: the call that shows one, or that there is
// none. No text of a model has the signs that they begin with.
type remarks []remark

type remark struct{ quote, text string }

// remarks are those of a message that ended a turn.
func (m Message) remarks() (out remarks) {
	if m.End == nil {
		return nil
	}
	for _, c := range m.End.Claims {
		out = append(out, remark{c.Quote, c.Mark()})
	}
	for _, e := range m.End.Evidence {
		out = append(out, remark{e.Quote, e.Mark()})
	}
	return out
}

// lastText is the part of a message that remarks are about; negative: it has no text.
func (m Message) lastText() int {
	for i := len(m.Parts) - 1; i >= 0; i-- {
		if m.Parts[i].Text != "" {
			return i
		}
	}
	return -1
}

// into puts the places of remarks into a text; those without one are told with the turn's end.
func (r remarks) into(text string) string {
	var quotes []string
	for _, m := range r {
		quotes = append(quotes, m.quote)
	}
	text, _ = markdown.Remarked(text, quotes)
	return text
}

func (r remarks) at(n int) string {
	if n > len(r) {
		return ""
	}
	return r[n-1].text
}

// markdown writes remarks into a block of Markdown, and takes their signs out of what is the
// model's.
func (r remarks) markdown(text string, kind markdown.Kind) string {
	if kind == markdown.Code {
		return text
	}
	var b strings.Builder
	for _, s := range markdown.Remarks([]markdown.Span{{Text: text}}) {
		if s.Remark == 0 {
			b.WriteString(markdown.Signless(s.Text))
			continue
		}
		sign, words, _ := strings.Cut(r.at(s.Remark), " ")
		b.WriteString("(" + sign + " " + codeSpan(words) + ")")
	}
	return b.String()
}
