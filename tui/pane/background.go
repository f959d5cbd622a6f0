package pane

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Job is a background command.
type Job struct {
	ID, Command string
	Since       time.Time
}

// InBackground sets the running background jobs.
func (a *Activity) InBackground(jobs []Job) { a.jobs = jobs }

// Jobs returns the number of background jobs.
func (a *Activity) Jobs() int { return len(a.jobs) }

// heading returns the counts for the title.
func (a *Activity) heading() string {
	var parts []string
	if n := a.Subagents(); n > 0 {
		parts = append(parts, plural.Grouped(n, "subagent"))
	}
	if n := len(a.jobs); n > 0 {
		parts = append(parts, plural.Grouped(n, "job"))
	}
	return strings.Join(parts, " · ")
}

// background appends the jobs that fit.
func (a *Activity) background(rows []draw.Row, w, h int) []draw.Row {
	t := a.draw.Theme
	for i, j := range a.jobs {
		if len(rows) == h {
			break
		}
		if rest := len(a.jobs) - i; len(rows) == h-1 && rest > 1 && i > 0 {
			return append(rows, t.Line(draw.Dim, safeterm.Name(fmt.Sprintf("… %d more jobs", rest))).Fit(w))
		}
		var clock draw.Row
		if d, known := ui.Running(a.now(), j.Since); known {
			clock = t.Pen().Put(draw.Dim, safeterm.Name(running(d))).Done()
		}
		row := t.Pen().Fixed(draw.Dim, "◌ ").Put(draw.Bold, safeterm.Name(j.ID)).Fixed(draw.Plain, "  ").
			Put(draw.Plain, safeterm.Name(ui.Shorten(j.Command))).Done().Fit(w - clock.Width() - 2)
		rows = append(rows, t.Pen().Row(row).Pad(w-clock.Width()).Row(clock).Done())
	}
	return rows
}
