package tui

import (
	"strings"

	"adze/internal/safeterm"
)

// dropped is what a pasted text turned out to be.
type dropped struct {
	text string // as it stands in the prompt
	file Dropped
}

// newDropped is a file that the pasted text names.
func newDropped(text string, file Dropped) dropped {
	return dropped{safeterm.Clean(text).String(), file}
}

// dropped puts a file in the place of the text that named it, unless the person changed that meanwhile.
func (p *prompt) dropped(d dropped) {
	at := strings.LastIndex(p.text, d.text)
	if at < 0 {
		return
	}
	word := quotedPath(d.file.Path)
	if d.file.Attach != "" {
		word = p.attach(d.file.Attach)
	}
	cursor := p.at
	p.replace(at, at+len(d.text), word)
	if cursor < at {
		p.moveTo(cursor)
	} else if cursor > at+len(d.text) {
		p.moveTo(cursor + len(word) - len(d.text))
	}
}
