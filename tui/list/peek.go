package list

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/ui"
)

// PeekAfter is how long a row must be marked before it is looked into: who moves through a list
// must not load every session on the way.
const PeekAfter = 80 * time.Millisecond

// minPeek is the height in rows from which on a list has room for a look into its row.
const minPeek = 12

// peek is the look into the marked row of a picker.
type peek struct {
	title  string
	id     string
	look   func(ctx context.Context, id string) ([]draw.Span, error)
	cancel context.CancelFunc // of the running look; if nil, none runs
	lines  []draw.Span        // one a line
	note   string             // why there is nothing
	failed bool               // the note is an error
}

// Messages of a peek: its time has come, and its answer.
type (
	PeekDue string
	Peeked  struct {
		id    string
		lines []draw.Span
		err   error
	}
)

// PeekWith has the open list look into its marked row.
func (p *List) PeekWith(title string, look func(ctx context.Context, id string) ([]draw.Span, error)) {
	p.peek = &peek{title: title, look: look}
}

// drop ends a running look.
func (k *peek) drop() {
	if k != nil && k.cancel != nil {
		k.cancel()
		k.cancel = nil
	}
}

// Follow is after every key: when another row is marked than before, a look is due after a time.
func (p *List) Follow() (due PeekDue, begins bool) {
	k := p.peek
	if !p.Open || k == nil {
		return "", false
	}
	here, ok := p.Here()
	if ok && here.ID == k.id {
		return "", false
	}
	k.drop()
	k.id, k.lines, k.note, k.failed = here.ID, nil, "", false
	return PeekDue(here.ID), here.ID != ""
}

// Due looks, if the row is still marked; the answer comes as peeked.
func (p *List) Due(id PeekDue) tea.Cmd {
	k := p.peek
	if !p.Open || k == nil || k.id != string(id) || k.cancel != nil || k.lines != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	k.cancel, k.note = cancel, "looking…"
	return func() tea.Msg {
		lines, err := k.look(ctx, string(id))
		return Peeked{string(id), lines, err}
	}
}

// Peeked takes the answer, unless another row is marked by now.
func (p *List) Peeked(a Peeked) {
	k := p.peek
	if k == nil || k.id != a.id {
		return
	}
	k.drop()
	k.lines, k.note, k.failed = a.lines, "", a.err != nil
	if a.err != nil {
		k.note = "error: " + a.err.Error()
	}
}

// Render draws what was seen, at most h rows.
func (k *peek) Render(t *draw.Theme, w, h int) []draw.Row {
	if k.id == "" {
		return nil // there is nothing to look into
	}
	rows := []draw.Row{ui.Title(t, w, k.title)}
	if k.note != "" {
		rows = t.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name(k.note)})
		return rows[:min(len(rows), h)]
	}
	for _, line := range k.lines {
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
