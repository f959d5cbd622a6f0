package list

import (
	"context"
	"time"

	"adze/internal/text/safeterm"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/ui"
)

// PeekAfter is the delay before a preview loads, so that moving through a list does not load every
// session.
const PeekAfter = 80 * time.Millisecond

// minPeek is the minimum list height with a preview, in rows.
const minPeek = 12

// PeekWith adds a preview for the selected row.
func (p *List) PeekWith(title string, look func(ctx context.Context, id string) ([]draw.Span, error)) {
	p.peek, p.peekTitle = &lookup[[]draw.Span]{look: look}, title
}

// Follow must be called after every key. If the selection has changed, it returns a message that
// loads the preview.
func (p *List) Follow() async.Continuation {
	if !p.Open || p.peek == nil {
		return nil
	}
	here, ok := p.Selected()
	if ok && here.ID == p.peek.key {
		return nil
	}
	return p.peek.turn(here.ID, looking, func() {})
}

// looked draws the preview in at most h rows.
func (p *List) looked(w, h int) []draw.Row {
	t, k := p.theme, p.peek
	if k.key == "" {
		return nil
	}
	rows := []draw.Row{ui.Title(t, w, p.peekTitle)}
	if k.note != "" {
		rows = t.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name(k.note)})
		return rows[:min(len(rows), h)]
	}
	for _, line := range k.got {
		if len(rows) > h {
			break
		}
		rows = t.Wrap(rows, w, draw.Margins{}, line)
	}
	if len(rows) > h && h > 1 { // a truncated text must not look complete to a user who consents to it
		rows = append(rows[:h-1], t.Line(draw.Warn, safeterm.Fixed("… and more: a larger window shows it")))
	}
	return rows[:min(len(rows), h)]
}
