package pane

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Status is the last row of the screen: activity, time, cost and hints.
type Status struct {
	theme *draw.Theme
	facts Facts
	// steps and calls count within the running turn or the last one.
	steps, calls int
	ledger       session.Ledger
	title        string // the first message's first line
	branch       string
	unsaved      session.Unsaved
	last         time.Duration // the last turn's duration
}

// Facts are always shown.
type Facts struct {
	Mode, Model, Effort, Sandbox string
}

// NewStatus returns the status line before the first turn.
func NewStatus(t *draw.Theme, f Facts) *Status { return &Status{theme: t, facts: f} }

// Apply updates the counts.
func (s *Status) Apply(e session.Event) {
	switch e := e.(type) {
	case session.MessageDone:
		switch e.Message.Role {
		case session.User:
			s.steps, s.calls = 0, 0
			s.name(e.Message)
		case session.Assistant:
			s.steps++
		}
	case session.Counted:
		s.ledger = e.Ledger
	case session.ToolStart:
		s.calls++
	case session.Unsaved:
		s.unsaved = e
	case session.TurnEnd:
		s.last = e.Result.Duration
	}
}

// InMode sets the permission mode, InSandbox the sandbox level, and OnBranch the git branch, "" for
// none.
func (s *Status) InMode(name string)     { s.facts.Mode = name }
func (s *Status) InSandbox(level string) { s.facts.Sandbox = level }
func (s *Status) OnBranch(name string)   { s.branch = name }

// AtEffort sets the thinking effort; "" hides it.
func (s *Status) AtEffort(name string) { s.facts.Effort = name }

// name sets the session's title.
func (s *Status) name(m session.Message) {
	if s.title == "" && m.OwnCall == "" && !m.Summary && !m.Note {
		line, _, _ := strings.Cut(strings.TrimSpace(m.Text()), "\n")
		s.title = ui.Shorten(line)
	}
}

// Unnamed clears the title after the first message was taken back.
func (s *Status) Unnamed() { s.title = "" }

// Moment is the model's current state.
type Moment struct {
	Running  bool
	Stopping bool
	Elapsed  time.Duration
	Queued   int    // waiting messages
	Message  string // replaces the facts until the next key
	Hints    []string
}

// Rows draws the line: facts at the left, hints at the right. A message is never truncated; it
// wraps above the hints. Facts that do not fit are omitted from the end.
func (s *Status) Rows(w int, at Moment) []draw.Row {
	right := s.hints(at.Hints, w)
	if at.Message == "" {
		left := s.theme.Pen()
		s.tell(left, at, w-right.Width()-2)
		return []draw.Row{left.Pad(w - right.Width()).Row(right).Done().Fit(w)}
	}
	rows := s.theme.Wrap(nil, w, draw.Margins{}, draw.Span{Style: draw.Warn, Text: safeterm.Name(at.Message)})
	if n := len(rows); n == 0 || rows[n-1].Width()+right.Width()+2 > w {
		rows = append(rows, draw.Row{})
	}
	last := len(rows) - 1
	rows[last] = s.theme.Pen().Row(rows[last]).Pad(w - right.Width()).Row(right).Done()
	return rows
}

// hints returns the hints that fit, preferring the first and the last ones.
func (s *Status) hints(all []string, w int) draw.Row {
	for {
		pen := s.theme.Pen()
		for i, h := range all {
			if i > 0 {
				pen.Fixed(draw.Dim, " · ")
			}
			pen.Put(draw.Dim, safeterm.Name(h))
		}
		row := pen.Done()
		if row.Width() <= w || len(all) < 2 {
			return row.Fit(w)
		}
		drop := max(len(all)-2, 0)
		all = slices.Delete(slices.Clone(all), drop, drop+1)
	}
}

func (s *Status) tell(p *draw.Pen, at Moment, w int) {
	switch {
	case at.Stopping:
		p.Fixed(draw.Warn, "● stopping ")
	case at.Running:
		p.Fixed(draw.Accent, "● ").Put(draw.Plain, safeterm.Name(ui.Clock(at.Elapsed)+" "))
	}
	if !s.unsaved.AllSaved() {
		p.Put(draw.Warn, safeterm.Name(fmt.Sprintf("not saved, %d waiting ", s.unsaved.Entries)))
	}
	first := true
	for _, f := range s.list(at) {
		text := safeterm.Name(f)
		if !first {
			text = safeterm.Concat(safeterm.Fixed(" · "), text)
		}
		row := s.theme.Line(draw.Dim, text)
		if p.Width()+row.Width() > w {
			return
		}
		p.Row(row)
		first = false
	}
	if room := w - p.Width(); s.title != "" && room >= leastTitle {
		p.Row(s.theme.Line(draw.Dim, safeterm.Concat(safeterm.Fixed(" · "), safeterm.Name(s.title))).Fit(min(room, mostTitle)))
	}
}

// leastTitle and mostTitle limit the title's width, in cells.
const leastTitle, mostTitle = 12, 48

// list returns the facts, the most important first.
func (s *Status) list(at Moment) []string {
	out := []string{s.facts.Mode}
	if at.Queued > 0 {
		out = append(out, fmt.Sprintf("%d queued", at.Queued))
	}
	out = append(out, s.facts.Model, s.effort(), s.context(), s.cost(), s.branch)
	out = append(out, Sandboxed(s.facts.Sandbox))
	if s.steps > 0 {
		out = append(out, plural.Of(s.steps, "request")+", "+plural.Of(s.calls, "tool"))
	}
	if !at.Running && s.last > 0 {
		out = append(out, ui.Clock(s.last))
	}
	return slices.DeleteFunc(out, func(f string) bool { return f == "" })
}

// Sandboxed describes a sandbox level; "" if unknown.
func Sandboxed(level string) string {
	switch level {
	case "":
		return ""
	case "none":
		return "not sandboxed"
	}
	return "sandboxed"
}

func (s *Status) effort() string {
	if s.facts.Effort == "" {
		return ""
	}
	return "effort " + s.facts.Effort
}

// context returns how much context the next request takes.
func (s *Status) context() string {
	percent, known := s.ledger.Fill()
	switch {
	case len(s.ledger.Used) == 0: // before the first request there are only the prompt and the tools
		return ""
	case known:
		return fmt.Sprintf("%d%% of %s", percent, ui.FormatSize(s.ledger.Window))
	}
	return ui.Thousands(s.ledger.Estimate) + " tokens"
}

// cost returns the session's cost, or "" if it is unknown or zero.
func (s *Status) cost() string {
	if s.ledger.Cost == nil || *s.ledger.Cost == 0 {
		return ""
	}
	return ui.Dollars(*s.ledger.Cost)
}
