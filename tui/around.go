package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/tui/draw"
	"adze/tui/pane"
	"adze/tui/ui"
)

// workPane shows todos, jobs and subagents. They appear as a line in the rule above the prompt. A
// key opens them as a pane with a limited height; on a wide screen they have their own column.
type workPane struct {
	host
	todos    *pane.Todos
	activity *pane.Activity
	changes  *pane.Changes
	width    func() int // screen width
	open     bool
}

func (a *workPane) commands() []command {
	return []command{{name: "todos", help: "show todos, jobs and subagents, or hide them", can: a.can, run: noArgs(a.toggle)}}
}

func (a *workPane) can() string {
	switch {
	case a.wide():
		return "they are shown beside the conversation"
	case !a.open && a.words() == "":
		return "there are no open todos, no jobs and no subagents"
	}
	return ""
}

func (a *workPane) toggle() tea.Cmd { a.open = !a.open; return nil }

// wide reports whether the column is shown: on a wide screen with todos or changed files. Both stay
// once they exist, so the column is never empty and the width does not change when work ends.
func (a *workPane) wide() bool {
	return a.width() >= ui.Side && (len(a.todos.List()) > 0 || !a.changes.Empty())
}

// words returns the one-line summary, or "" if there is nothing to show.
func (a *workPane) words() string {
	var parts []string
	if n := a.activity.Jobs(); n > 0 {
		parts = append(parts, plural.Grouped(n, "job"))
	}
	if n := a.activity.Subagents(); n > 0 {
		parts = append(parts, plural.Grouped(n, "subagent"))
	}
	if all := a.todos.List(); len(all) > 0 && (a.working() || a.todos.Open() > 0) {
		text := fmt.Sprintf("todos %d/%d", len(all)-a.todos.Open(), len(all))
		for _, it := range all {
			if it.State == "in_progress" {
				text += " ▸ " + ui.Shorten(it.Text)
				break
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// above returns the line for the rule above the prompt, or "" while the pane or the column shows
// it.
func (a *workPane) above() string {
	if a.open || a.wide() {
		return ""
	}
	return a.words()
}

// Limits for the height of the open pane, in rows.
const leastAround, mostAround = 6, 14

// want returns the pane's height on a screen of h rows, or 0 if it is closed or empty.
func (a *workPane) want(h int) int {
	if !a.open || a.wide() || a.activity.Jobs()+a.activity.Subagents()+len(a.todos.List()) == 0 {
		return 0
	}
	return min(max(h/3, leastAround), mostAround)
}

func (a *workPane) render(w, h int) []draw.Row {
	if h <= 0 {
		return nil
	}
	var rows []draw.Row
	part := func(own []draw.Row) {
		if len(own) > 0 && len(rows) > 0 && a.wide() {
			rows = append(rows, draw.Row{})
		}
		rows = append(rows, own...)
	}
	room := func() int { return max(h-len(rows), 0) }
	runs := a.activity.Render(w, max(h/2, h-1-len(a.todos.List())))
	part(a.todos.Render(w, room()-len(runs)))
	part(runs)
	if a.wide() {
		part(a.changes.Brief(w, room()-1))
	}
	return rows[:min(len(rows), h)]
}
