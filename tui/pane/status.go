package pane

import (
	"fmt"
	"slices"
	"time"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tui/draw"
	"adze/tui/look"
)

// Status is the last row of the screen: who works, how long, at what price, and what to press.
type Status struct {
	theme *draw.Theme
	facts Facts
	// steps and calls are of the running turn, or of the last one.
	steps, calls int
	ledger       session.Ledger
	branch       string
	last         time.Duration // how long the last turn took
}

// Facts are what stands in it all the time.
type Facts struct {
	Mode, Model, Effort, Session, Sandbox string
}

// NewStatus is the line of a session before its first turn.
func NewStatus(t *draw.Theme, f Facts) *Status { return &Status{theme: t, facts: f} }

// Apply counts.
func (s *Status) Apply(e session.Event) {
	switch e := e.(type) {
	case session.MessageDone:
		switch e.Message.Role {
		case session.User:
			s.steps, s.calls = 0, 0
		case session.Assistant:
			s.steps++
		}
	case session.Counted:
		s.ledger = e.Ledger
	case session.ToolStart:
		s.calls++
	case session.TurnEnd:
		s.last = e.Result.Duration
	}
}

// InMode says which permission mode is in force; onBranch which git branch is checked out, empty: none.
func (s *Status) InMode(name string)     { s.facts.Mode = name }
func (s *Status) InSandbox(level string) { s.facts.Sandbox = level }
func (s *Status) OnBranch(name string)   { s.branch = name }

// AtEffort says how hard the model is asked to think; empty: nothing is said about it.
func (s *Status) AtEffort(name string) { s.facts.Effort = name }

// Moment is what the model knows about this moment.
type Moment struct {
	Running  bool
	Stopping bool
	Elapsed  time.Duration
	Queued   int    // messages that wait
	Say      string // instead of the facts, until the next key
	Hints    []string
}

// Render draws the row: facts at the left, hints at the right; what does not fit is left out from the end.
func (s *Status) Render(w int, at Moment) draw.Row {
	hints := s.theme.Pen()
	for i, h := range at.Hints {
		if i > 0 {
			hints.Fixed(draw.Dim, " · ")
		}
		hints.Put(draw.Dim, safeterm.Name(h))
	}
	right := hints.Done()
	left := s.theme.Pen()
	switch {
	case at.Say != "":
		left.Put(draw.Warn, safeterm.Name(at.Say))
	default:
		s.tell(left, at, w-right.Width()-2)
	}
	if left.Width()+right.Width()+2 > w {
		return left.Done().Fit(w)
	}
	return left.Pad(w - right.Width()).Row(right).Done()
}

func (s *Status) tell(p *draw.Pen, at Moment, w int) {
	switch {
	case at.Stopping:
		p.Fixed(draw.Warn, "● stopping ")
	case at.Running:
		p.Fixed(draw.Accent, "● ").Put(draw.Plain, safeterm.Name(look.Clock(at.Elapsed)+" "))
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
}

// list is what there is to tell, the most important first.
func (s *Status) list(at Moment) []string {
	out := []string{s.facts.Mode, s.facts.Model, s.effort()}
	if at.Queued > 0 {
		out = append(out, fmt.Sprintf("%d queued", at.Queued))
	}
	out = append(out, s.context(), s.cost(), s.branch)
	if s.facts.Sandbox != "" {
		out = append(out, "sandbox "+s.facts.Sandbox)
	}
	if s.steps > 0 {
		out = append(out, look.Count(s.steps, "step")+", "+look.Count(s.calls, "call"))
	}
	if !at.Running && s.last > 0 {
		out = append(out, look.Clock(s.last))
	}
	out = append(out, s.facts.Session)
	return slices.DeleteFunc(out, func(f string) bool { return f == "" })
}

func (s *Status) effort() string {
	if s.facts.Effort == "" {
		return ""
	}
	return "effort " + s.facts.Effort
}

// context is how much of the model's context the next request takes.
func (s *Status) context() string {
	percent, known := s.ledger.Fill()
	switch {
	case len(s.ledger.Used) == 0: // nothing was asked yet: it is a prompt and tools
		return ""
	case known:
		return fmt.Sprintf("%d%% of %s", percent, look.Round(s.ledger.Window))
	}
	return look.Thousands(s.ledger.Estimate) + " tokens"
}

// cost is that of the session, when it is known and not nothing.
func (s *Status) cost() string {
	if s.ledger.Cost == nil || *s.ledger.Cost == 0 {
		return ""
	}
	return look.Dollars(*s.ledger.Cost)
}
