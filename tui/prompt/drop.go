package prompt

import (
	"strings"

	"adze/internal/text/safeterm"
	"adze/session/api"
)

// Dropped is what a pasted text turned out to be.
type Dropped struct {
	text string // as it stands in the prompt
	file api.Dropped
}

// NewDropped is a file that the pasted text names.
func NewDropped(text string, file api.Dropped) Dropped {
	return Dropped{safeterm.Clean(text).String(), file}
}

// Dropped puts a file in the place of the text that named it, unless the user changed that
// meanwhile.
func (p *Line) Dropped(d Dropped) {
	at := strings.LastIndex(p.Text, d.text)
	if at < 0 {
		return
	}
	word := quotedPath(d.file.Path)
	if d.file.Attach != "" {
		word = p.Attach(d.file.Attach)
	}
	cursor := p.At
	p.Replace(at, at+len(d.text), word)
	if cursor < at {
		p.MoveTo(cursor)
	} else if cursor > at+len(d.text) {
		p.MoveTo(cursor + len(word) - len(d.text))
	}
}
