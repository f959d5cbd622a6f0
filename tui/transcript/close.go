package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"adze/internal/text/plural"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// end closes a turn with a summary row, and the reason if it did not end normally.
func (t *Pane) end(r session.Result) {
	t.finish() // an aborted answer stays incomplete
	t.unform(session.Message{})
	t.open, t.pieces = "", nil
	if text := t.sum(r); text != "" {
		t.closing(draw.Dim, text)
	}
	t.turnStart = len(t.entries)
	switch r.Cause {
	case session.CauseDone:
	case session.CauseInterrupted:
		t.closing(draw.Warn, "stopped by you")
	case session.CauseTaken:
		t.closing(draw.Warn, r.Message)
	default:
		text := "error: " + cmp.Or(r.Message, string(r.Cause))
		if r.Hint != "" {
			text += "\nhint: " + r.Hint
		}
		t.closing(draw.Bad, text)
	}
}

// closing adds a remark directly below the turn.
func (t *Pane) closing(s draw.Style, text string) {
	t.note(s, text).closes = true
}

// sum returns a turn's summary: files, todos, calls and time. A turn without calls and changes has
// none.
func (t *Pane) sum(r session.Result) string {
	calls := t.ofTurn()
	switch {
	case len(calls) == 0 && len(r.Changed) > 0:
		return "changed: " + ui.Shorten(strings.Join(r.Changed, ", "))
	case len(calls) == 0, calls[len(calls)-1].ownCommand: // its own row is enough
		return ""
	}
	parts := changedFiles(calls, r.Changed, t.draw)
	if todos := todosOf(calls, t.draw); todos != "" {
		parts = append(parts, todos)
	}
	parts = append(parts, plural.Grouped(len(calls), "call"))
	if r.Duration > 0 {
		parts = append(parts, ui.Clock(r.Duration))
	}
	return strings.Join(parts, " · ")
}

// ofTurn returns the turn's calls.
func (t *Pane) ofTurn() (calls []*callEntry) {
	for _, e := range t.entries[min(t.turnStart, len(t.entries)):] {
		if c, ok := e.(*callEntry); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// mostFiles limits the file names in the summary.
const mostFiles = 4

// changedFiles returns the changed files with their added and removed lines.
func changedFiles(calls []*callEntry, paths []string, d *ui.Drawing) []string {
	type count struct{ added, removed int }
	lines := map[string]count{}
	paths = slices.Clone(paths)
	for _, c := range calls {
		if c.outcome == nil || len(c.outcome.Changed) == 0 {
			continue
		}
		for _, p := range c.outcome.Changed {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
		for _, b := range c.blocks(d) {
			if b.Kind != tool.DiffBlock {
				continue
			}
			if len(c.outcome.Changed) == 1 {
				b.Path = c.outcome.Changed[0]
			}
			added, removed := draw.Count(b.Text)
			n := lines[b.Path]
			lines[b.Path] = count{n.added + added, n.removed + removed}
		}
	}
	var out []string
	for _, p := range paths[:min(len(paths), mostFiles)] {
		if n, ok := lines[p]; ok {
			p += " " + ui.PlusMinus(n.added, n.removed)
		}
		out = append(out, ui.Shorten(p))
	}
	if n := len(paths) - mostFiles; n > 0 {
		out = append(out, plural.Grouped(n, "more file"))
	}
	return out
}

// todosOf returns the turn's progress by its latest checklist.
func todosOf(calls []*callEntry, d *ui.Drawing) string {
	for _, c := range slices.Backward(calls) {
		if c.heading.Shape != tool.NoRow || c.outcome == nil {
			continue
		}
		for _, b := range c.blocks(d) {
			if b.Kind == tool.ChecklistBlock {
				done := 0
				for _, it := range b.Items {
					if it.State == "completed" || it.State == "cancelled" {
						done++
					}
				}
				return fmt.Sprintf("todos %d/%d", done, len(b.Items))
			}
		}
	}
	return ""
}
