package prompt

import (
	"strings"

	"adze/internal/text/safeterm"
	"adze/session/api"
)

// Dropped replaces the pasted path of a file, unless the user has changed it.
func (p *Line) Dropped(text string, file api.Dropped) {
	text = safeterm.Clean(text).String()
	at := strings.LastIndex(p.Text, text)
	if at < 0 {
		return
	}
	word := quotedPath(file.Path)
	if file.Attach != "" {
		word = p.Attach(file.Attach)
	}
	cursor := p.Cursor
	p.Replace(at, at+len(text), word)
	if cursor < at {
		p.MoveTo(cursor)
	} else if cursor > at+len(text) {
		p.MoveTo(cursor + len(word) - len(text))
	}
}
