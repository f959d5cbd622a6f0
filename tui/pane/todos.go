package pane

import (
	"encoding/json"
	"fmt"

	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// keepUnseen limits the metadata searched for a checklist: drawing decodes from the newest back,
// and a long resumed session must not be decoded as a whole.
const keepUnseen = 100

// Todos shows any tool's latest checklist, without knowledge of tool names.
type Todos struct {
	draw   *ui.Drawing
	unseen []metadata
	items  []tool.Item
}

// NewTodos returns an empty pane.
func NewTodos(d *ui.Drawing) *Todos { return &Todos{draw: d} }

type metadata struct {
	tool string
	raw  json.RawMessage
}

// Apply stores metadata; drawing decodes it.
func (t *Todos) Apply(e session.Event) {
	switch e := e.(type) {
	case session.ToolUpdate:
		t.remember(e.Tool, e.Metadata)
	case session.ToolEnd:
		t.remember(e.Outcome.Tool, e.Outcome.Metadata)
	case session.MessageDone:
		for _, p := range e.Message.Parts {
			if p.Outcome != nil {
				t.remember(p.Outcome.Tool, p.Outcome.Metadata)
			}
		}
	}
}

func (t *Todos) remember(name string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	if len(t.unseen) == keepUnseen {
		copy(t.unseen, t.unseen[1:])
		t.unseen = t.unseen[:keepUnseen-1]
	}
	t.unseen = append(t.unseen, metadata{name, raw})
}

// look finds the latest checklist since the last drawing.
func (t *Todos) look() {
	for i := len(t.unseen) - 1; i >= 0; i-- {
		for _, b := range t.draw.Blocks(t.unseen[i].tool, t.unseen[i].raw) {
			if b.Kind == tool.ChecklistBlock {
				t.items, t.unseen = b.Items, nil
				return
			}
		}
	}
	t.unseen = nil
}

// List returns the latest checklist.
func (t *Todos) List() []tool.Item {
	t.look()
	return t.items
}

// Open returns the number of unfinished items.
func (t *Todos) Open() int {
	n := 0
	for _, it := range t.items {
		if it.State != "completed" && it.State != "cancelled" {
			n++
		}
	}
	return n
}

// Render draws the list. If it does not fit, finished items at the beginning are omitted.
func (t *Todos) Render(w, h int) []draw.Row {
	if t.look(); h < 2 || len(t.items) == 0 {
		return nil
	}
	done := len(t.items) - t.Open()
	rows := []draw.Row{ui.Title(t.draw.Theme, w, fmt.Sprintf("todos %d/%d", done, len(t.items)))}
	items := t.items
	for len(items) > h-1 && items[0].State != "in_progress" && items[0].State != "pending" {
		items = items[1:]
	}
	room := h - 1
	if len(items) > room {
		room = max(room-1, min(room, 1)) // the last row counts the other items, if there is room
	}
	for _, it := range items[:min(len(items), room)] {
		rows = t.draw.Theme.Item(rows, it, w, false)
	}
	if rest := len(items) - room; rest > 0 && len(rows) < h {
		rows = append(rows, t.draw.Theme.Line(draw.Dim, safeterm.Name(fmt.Sprintf("… %d more", rest))).Fit(w))
	}
	return rows
}
