package list

import (
	"context"
	"time"

	"adze/internal/text/safeterm"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/ui"
)

// PeekAfter is how long a row must be marked before it is looked into: who moves through a list
// must not load every session on the way.
const PeekAfter = 80 * time.Millisecond

// minPeek is the height in rows from which on a list has room for a look into its row.
const minPeek = 12

// PeekWith has the open list look into its marked row.
func (p *List) PeekWith(title string, look func(ctx context.Context, id string) ([]draw.Span, error)) {
	p.peek, p.peekTitle = &lookup[[]draw.Span]{look: look}, title
}

// Follow is called after every key: when another row is marked than before, the returned message
// looks into it.
func (p *List) Follow() async.Then {
	if !p.Open || p.peek == nil {
		return nil
	}
	here, ok := p.Here()
	if ok && here.ID == p.peek.of {
		return nil
	}
	return p.peek.turn(here.ID, looking, func() {})
}

// looked draws what was seen, at most h rows.
func (p *List) looked(w, h int) []draw.Row {
	t, k := p.theme, p.peek
	if k.of == "" {
		return nil // there is nothing to look into
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
	if len(rows) > h && h > 1 { // what is consented to must not look whole when it is not
		rows = append(rows[:h-1], t.Line(draw.Warn, safeterm.Fixed("… and more: a larger window shows it")))
	}
	return rows[:min(len(rows), h)]
}
