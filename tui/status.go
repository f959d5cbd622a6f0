package tui

import (
	"fmt"
	"slices"
	"time"

	"adze/internal/safeterm"
	"adze/session"
	"adze/tui/draw"
)

// status is the last row of the screen: who works, how long, at what price, and what to press.
type status struct {
	theme *draw.Theme
	facts statusFacts
	// steps and calls are of the running turn, or of the last one.
	steps, calls int
	ledger       session.Ledger
	branch       string
	last         time.Duration // how long the last turn took
}

// statusFacts are what stands in it all the time.
type statusFacts struct {
	mode, model, session, sandbox string
}

func newStatus(t *draw.Theme, f statusFacts) *status { return &status{theme: t, facts: f} }

// Apply counts.
func (s *status) Apply(e session.Event) {
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

// inMode says which permission mode is in force; onBranch which git branch is checked out, empty: none.
func (s *status) inMode(name string)   { s.facts.mode = name }
func (s *status) onBranch(name string) { s.branch = name }

// moment is what the model knows about this moment.
type moment struct {
	running  bool
	stopping bool
	elapsed  time.Duration
	queued   int    // messages that wait
	say      string // instead of the facts, until the next key
	hints    []string
}

// Render draws the row: facts at the left, hints at the right; what does not fit is left out from the end.
func (s *status) Render(w int, at moment) draw.Row {
	hints := s.theme.Pen()
	for i, h := range at.hints {
		if i > 0 {
			hints.Fixed(draw.Dim, " · ")
		}
		hints.Put(draw.Dim, safeterm.Name(h))
	}
	right := hints.Done()
	left := s.theme.Pen()
	switch {
	case at.say != "":
		left.Put(draw.Warn, safeterm.Name(at.say))
	default:
		s.tell(left, at, w-right.Width()-2)
	}
	if left.Width()+right.Width()+2 > w {
		return left.Done().Fit(w)
	}
	return left.Pad(w - right.Width()).Row(right).Done()
}

func (s *status) tell(p *draw.Pen, at moment, w int) {
	switch {
	case at.stopping:
		p.Fixed(draw.Warn, "● stopping ")
	case at.running:
		p.Fixed(draw.Accent, "● ").Put(draw.Plain, safeterm.Name(clock(at.elapsed)+" "))
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
func (s *status) list(at moment) []string {
	out := []string{s.facts.mode, s.facts.model}
	if at.queued > 0 {
		out = append(out, fmt.Sprintf("%d queued", at.queued))
	}
	out = append(out, s.context(), s.cost(), s.branch)
	if s.facts.sandbox != "" {
		out = append(out, "sandbox "+s.facts.sandbox)
	}
	if s.steps > 0 {
		out = append(out, count(s.steps, "step")+", "+count(s.calls, "call"))
	}
	if !at.running && s.last > 0 {
		out = append(out, clock(s.last))
	}
	out = append(out, s.facts.session)
	return slices.DeleteFunc(out, func(f string) bool { return f == "" })
}

// context is how much of the model's context the next request takes.
func (s *status) context() string {
	percent, known := s.ledger.Fill()
	switch {
	case len(s.ledger.Used) == 0: // nothing was asked yet: it is a prompt and tools
		return ""
	case known:
		return fmt.Sprintf("%d%% of %s", percent, round(s.ledger.Window))
	}
	return thousands(s.ledger.Estimate) + " tokens"
}

// cost is that of the session, when it is known and not nothing.
func (s *status) cost() string {
	if s.ledger.Cost == nil || *s.ledger.Cost == 0 {
		return ""
	}
	return dollars(*s.ledger.Cost)
}
