package tui

import (
	"encoding/json"
	"fmt"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
)

// keepUnseen bounds the metadata that is searched for a checklist: the next drawing decodes from the
// newest back, and a long resumed session must not be decoded whole.
const keepUnseen = 100

// todos is the pane of the newest checklist that any tool showed. It knows no tool's name.
type todos struct {
	draw   *drawing
	hidden bool // by the person
	unseen []metadata
	items  []tool.Item
}

func newTodos(d *drawing) *todos { return &todos{draw: d} }

type metadata struct {
	tool string
	raw  json.RawMessage
}

// Apply remembers metadata; it is decoded when the pane is drawn.
func (t *todos) Apply(e session.Event) {
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

func (t *todos) remember(name string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	if len(t.unseen) == keepUnseen {
		copy(t.unseen, t.unseen[1:])
		t.unseen = t.unseen[:keepUnseen-1]
	}
	t.unseen = append(t.unseen, metadata{name, raw})
}

// look finds the newest checklist in what came since the last drawing.
func (t *todos) look() {
	for i := len(t.unseen) - 1; i >= 0; i-- {
		for _, b := range t.draw.blocks(t.unseen[i].tool, t.unseen[i].raw) {
			if b.Kind == tool.ChecklistBlock {
				t.items, t.unseen = b.Items, nil
				return
			}
		}
	}
	t.unseen = nil
}

// toggle hides the pane or shows it again.
func (t *todos) toggle() { t.hidden = !t.hidden }

// list is the newest checklist.
func (t *todos) list() []tool.Item {
	t.look()
	return t.items
}

// open counts the items that are still to be done.
func (t *todos) open() int {
	n := 0
	for _, it := range t.items {
		if it.State != "completed" && it.State != "cancelled" {
			n++
		}
	}
	return n
}

// Want is how many rows the pane would like: none when nothing is left to do.
func (t *todos) Want() int {
	t.look()
	if t.hidden || t.open() == 0 {
		return 0
	}
	return len(t.items) + 1
}

// Render draws the list; when it does not fit, finished items at its beginning make room.
func (t *todos) Render(w, h int) []draw.Row {
	if h < 1 {
		return nil
	}
	done := len(t.items) - t.open()
	rows := []draw.Row{title(t.draw.theme, w, fmt.Sprintf("todos %d/%d", done, len(t.items)))}
	items := t.items
	for len(items) > h-1 && items[0].State != "in_progress" && items[0].State != "pending" {
		items = items[1:]
	}
	room := h - 1
	if len(items) > room {
		room = max(room-1, 0) // the last row counts the rest
	}
	for _, it := range items[:min(len(items), room)] {
		rows = t.draw.theme.Item(rows, it, w, false)
	}
	if rest := len(items) - room; rest > 0 && len(rows) < h {
		rows = append(rows, t.draw.theme.Line(draw.Dim, safeterm.Name(fmt.Sprintf("… %d more", rest))).Fit(w))
	}
	return rows
}
