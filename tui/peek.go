package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// peekAfter is how long a row must be marked before it is looked into: who moves through a list must not
// load every session on the way.
const peekAfter = 80 * time.Millisecond

// minPeek is the height in rows from which on a list has room for a look into its row.
const minPeek = 12

// peek is the look into the marked row of a picker.
type peek struct {
	id     string
	look   func(ctx context.Context, id string) ([]draw.Span, error)
	cancel context.CancelFunc // of the running look; nil: none runs
	lines  []draw.Span        // one a line
	note   string             // why there is nothing
}

// Messages of a peek: its time has come, and its answer.
type (
	peekDue string
	peeked  struct {
		id    string
		lines []draw.Span
		err   error
	}
)

// peekWith has the open list look into its marked row.
func (p *picker) peekWith(look func(ctx context.Context, id string) ([]draw.Span, error)) {
	p.peek = &peek{look: look}
}

// drop ends a running look.
func (k *peek) drop() {
	if k != nil && k.cancel != nil {
		k.cancel()
		k.cancel = nil
	}
}

// follow is after every key: when another row is marked than before, a look is due after a time.
func (p *picker) follow() (due peekDue, begins bool) {
	k := p.peek
	if !p.open || k == nil {
		return "", false
	}
	here, ok := p.here()
	if ok && here.id == k.id {
		return "", false
	}
	k.drop()
	k.id, k.lines, k.note = here.id, nil, ""
	return peekDue(here.id), here.id != ""
}

// due looks, if the row is still marked; the answer comes as peeked.
func (p *picker) due(id peekDue) tea.Cmd {
	k := p.peek
	if !p.open || k == nil || k.id != string(id) || k.cancel != nil || k.lines != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	k.cancel, k.note = cancel, "looking…"
	return func() tea.Msg {
		lines, err := k.look(ctx, string(id))
		return peeked{string(id), lines, err}
	}
}

// peeked takes the answer, unless another row is marked by now.
func (p *picker) peeked(a peeked) {
	k := p.peek
	if k == nil || k.id != a.id {
		return
	}
	k.drop()
	k.lines, k.note = a.lines, ""
	if a.err != nil {
		k.note = "error: " + a.err.Error()
	}
}

// Render draws what was seen, at most h rows.
func (k *peek) Render(t *draw.Theme, w, h int) []draw.Row {
	if k.id == "" {
		return nil // there is nothing to look into
	}
	rows := []draw.Row{title(t, w, "its last exchange")}
	if k.note != "" {
		return append(rows, t.Line(draw.Dim, safeterm.Name(k.note)).Fit(w))
	}
	for _, line := range k.lines {
		if len(rows) >= h {
			break
		}
		rows = t.Wrap(rows, w, draw.Margins{}, line)
	}
	return rows[:min(len(rows), h)]
}
