// Package permission is the dialog that asks the user whether a call may go on, and the questions
// and answers that pass through it.
//
// The one rule: nothing of a question is cut or hidden without saying so, and no key that was meant
// for something else answers it.
//
// Start reading at Dialog.Render; question.go lays the question out. Known limits:
// questions are answered one by one, in their order.
package permission

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/stream/ask"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// Guard is how long a dialog must have been seen, and how long no key was pressed, before keys
// answer it: who is typing when it appears must not answer by accident.
const Guard = 300 * time.Millisecond

// Labels name the keys that answer, as people read them.
type Labels struct {
	Once, All, Other, Edit, No, Stop, Down, Up, Mode string
	Send, Back, Line, Flip, Next                     string // while a text or the hunks are open
}

// Step is what the user does with the question.
type Step uint8

// Steps.
const (
	AtQuestion Step = iota
	AtReason        // a reason is written
	AtText          // the text of the call is rewritten
	AtHunks         // hunks of the change are taken out
)

// Asked is a question that waits for its answer.
type Asked struct {
	ask.Permission
	Reply chan ask.Answer // holds one
}

// Unasked takes back a question whose call has ended.
type Unasked struct{ *Asked }

// Dialog is the dialog that asks whether a call may go on. Questions are answered in their order.
type Dialog struct {
	theme *draw.Theme
	now   func() time.Time
	keys  Labels
	queue []*Asked
	armed time.Time // from when on keys answer
	step  Step
	// Reason is what the user writes to the model; Text is the call as they want it.
	Reason, Text edit.Editor
	begun        string // what Text began as
	textWidth    int
	hunks        []hunk // of the change; if nil, they were not opened
	at           int    // the hunk that keys act on
	scrolled     int
	shown        int      // of what can be allowed, the grant that is shown
	hidden       int      // rows of the question below the window, as last drawn
	cwd          string   // the workspace: a command that runs elsewhere says so
	kept         ui.Sheaf // the question, laid out for width w; if nil, not yet
	w            int
	ruleAt       int // the row of kept with which the rule begins
	decisive     int // rows of kept that say what an answer allows
	room         int // rows of the window, as last drawn
	seen         int // rows of kept that were in the window, counted from the first
	last         int // the row behind the last one of the hunks that was in the window
}

// New names the keys that answer, and the workspace: a command that runs elsewhere says so.
func New(t *draw.Theme, now func() time.Time, k Labels, cwd string) *Dialog {
	return &Dialog{theme: t, now: now, keys: k, cwd: cwd}
}

// Naming has other keys named, or none.
func (p *Dialog) Naming(k Labels) { p.keys = k }

// Step is what the user does with the first question.
func (p *Dialog) Step() Step { return p.step }

// goTo goes to another step.
func (p *Dialog) goTo(s Step) { p.step, p.scrolled, p.seen, p.last, p.kept = s, 0, 0, 0, nil }

// Explain lets the user write a reason, or goes back to what it is for.
func (p *Dialog) Explain(on bool) {
	switch {
	case on:
		p.step = AtReason // what it is about stays in sight
	case p.hunks != nil:
		p.goTo(AtHunks)
		p.Move(0)
	default:
		p.step = AtQuestion
	}
}

// Refuse denies the first question, or the hunks that were refused, with the reason that was
// written.
func (p *Dialog) Refuse() {
	if p.hunks != nil {
		p.Part()
		return
	}
	p.Answer(ask.Answer{Choice: ask.Deny, Reason: strings.TrimSpace(p.Reason.Text)})
}

// First is the question that is shown; if nil, none is open.
func (p *Dialog) First() *Asked {
	if !p.Open() {
		return nil
	}
	return p.queue[0]
}

// Stage reports a question about the changes of a staged turn.
func (p *Dialog) Stage() bool {
	return p.Open() && slices.ContainsFunc(p.queue[0].Question.Needs, func(n tool.Need) bool { return n.Reach == tool.OwnStage })
}

// Open reports whether a question waits.
func (p *Dialog) Open() bool { return len(p.queue) > 0 }

// Ready reports whether keys answer.
func (p *Dialog) Ready() bool { return p.Open() && !p.now().Before(p.armed) }

// HoldOff starts the guard again: the user is still writing something else.
func (p *Dialog) HoldOff() { p.armed = p.now().Add(Guard) }

// Add has a question wait for its answer, behind those that do already.
func (p *Dialog) Add(a *Asked) {
	p.queue = append(p.queue, a)
	if len(p.queue) == 1 {
		p.begin()
	}
}

func (p *Dialog) begin() {
	p.Reason, p.Text, p.hunks, p.at, p.seen = edit.Editor{}, edit.Editor{}, nil, 0, 0
	p.goTo(AtQuestion)
	if p.shown = 0; p.Grants() && !p.OfEdits() {
		p.shown = max(slices.Index(p.grants(), grant{ask.ForSession, p.queue[0].Usual}), 0)
	}
	p.HoldOff()
}

// Remove takes back a question whose call has ended.
func (p *Dialog) Remove(a *Asked) {
	first := p.Open() && p.queue[0] == a
	p.queue = slices.DeleteFunc(p.queue, func(b *Asked) bool { return a == b })
	if first {
		p.begin()
	}
}

// Answer answers the first question.
func (p *Dialog) Answer(a ask.Answer) {
	p.queue[0].Reply <- a
	p.queue = p.queue[1:]
	p.begin()
}

// fewest is how many rows of a question have to be seen before it is allowed, where it has so many.
const fewest = 10

// needed is how many rows have to be seen: of a change hunk by hunk any ones, since keys go from
// hunk to hunk.
func (p *Dialog) needed() int {
	total := min(p.Body(max(p.w, 1)).Len(), fewest)
	if p.step == AtHunks {
		return total
	}
	return max(p.decisive, total)
}

// Unseen says why the question cannot be allowed yet; if empty, the rows that decide were all in
// the window.
func (p *Dialog) Unseen() string {
	if !p.Open() || p.step != AtQuestion && p.step != AtHunks {
		return ""
	}
	if left := p.needed() - p.seen; left > 0 {
		if p.room == 0 {
			return "the window is too small to show the question: enlarge it, or say no"
		}
		return fmt.Sprintf("%s not seen yet: %s shows more", plural.Of(left, "row"), p.keys.Down)
	}
	return ""
}

// Scroll moves the question under its keys, by no more rows than the window has, so that none is
// passed over.
func (p *Dialog) Scroll(by int) {
	by = min(max(by, -max(p.room, 1)), max(p.room, 1))
	p.scrolled = max(p.scrolled+min(by, p.hidden), 0)
}

// Want is how many rows the dialog would like.
func (p *Dialog) Want(w int) int {
	if !p.Open() {
		return 0
	}
	if p.step == AtText {
		return 2 + len(p.Text.Places(max(w-1, 1))) + len(p.choices(w))
	}
	return 1 + p.Body(w).Len() + 1 + len(p.choices(w))
}

// Render draws the first question. Its end is never hidden without saying so.
func (p *Dialog) Render(w, h int) (rows []draw.Row, x, y int) {
	a := p.queue[0]
	text := a.Title()
	if n := p.waiting(); n > 0 {
		text += fmt.Sprintf(" · %d more waiting", n)
	}
	rows = append(rows, p.title(w, text+p.beside(w)))
	if p.step == AtText {
		return p.rewriting(rows, w, h)
	}
	body := p.Body(w)
	foot := p.foot(w)
	room := max(h-2-len(foot), 0)
	total := body.Len()
	p.scrolled = min(p.scrolled, max(total-room, 0))
	p.hidden, p.room = max(total-room-p.scrolled, 0), room
	switch to := min(p.scrolled+room, total); {
	case p.step == AtHunks:
		p.seen += max(to-max(p.scrolled, p.last), 0)
		p.last = max(p.last, to)
	case p.scrolled <= p.seen:
		p.seen = max(p.seen, to)
	}
	rows = body.Append(rows, p.scrolled, min(p.scrolled+room, total))
	rows = append(rows, p.rest(total, w))
	if p.step == AtReason {
		lead := p.theme.Pen().Fixed(draw.Key, "Why not? ").Done()
		own, x, y := p.Reason.Rows(p.theme, w-lead.Width())
		rows = append(rows, p.theme.Pen().Row(lead).Row(own[y]).Done())
		if p.Reason.Empty() {
			hint := p.theme.Pen().Row(rows[len(rows)-1]).Put(draw.Dim, safeterm.Name(p.keys.Send+" says no without a reason · "+p.keys.Back+" goes back")).Done()
			rows[len(rows)-1] = hint.Fit(w)
		}
		return rows, x + lead.Width(), len(rows) - 1
	}
	return append(rows, foot...), -1, -1
}

func (p *Dialog) title(w int, text string) draw.Row {
	return p.theme.Pen().Fixed(draw.Warn, "━━ ").Put(draw.Bold, safeterm.Name(text)).Fixed(draw.Plain, " ").
		Rule(draw.Warn, w).Done().Fit(w)
}

// roomForTitle is what the first row needs beside the reason: its lead, the tool, how many wait,
// and some of the line.
const roomForTitle = 48

// beside is why it is asked, where that fits into the first row; else it is a row of its own.
func (p *Dialog) beside(w int) string {
	why := safeterm.Name(p.queue[0].Why)
	if why.Len() == 0 || p.theme.Line(draw.Plain, why).Width()+roomForTitle > w {
		return ""
	}
	return " · " + p.queue[0].Why
}

// rest says which rows of the question are seen, where not all are.
func (p *Dialog) rest(total, w int) draw.Row {
	if p.hidden == 0 && p.scrolled == 0 {
		return draw.Row{}
	}
	style, text := draw.Dim, ui.RowsOf(p.scrolled, total-p.hidden, total)
	if p.hidden > 0 {
		style, text = draw.Warn, text+fmt.Sprintf(" · %s for the rest", p.keys.Down)
	} else {
		text += fmt.Sprintf(" · all (%s goes back)", p.keys.Up)
	}
	return p.theme.Line(style, safeterm.Name(text)).Fit(w)
}

// waiting counts the questions behind this one.
func (p *Dialog) waiting() int {
	n := len(p.queue) - 1
	if more := p.queue[0].Waiting; more != nil {
		n += more()
	}
	return n
}

// warnings are reasons to look twice.
func warnings(a *Asked, why string) []string {
	var out []string
	if a.Problem != "" {
		out = append(out, a.Problem)
	}
	if why != "" {
		out = append(out, why)
	}
	if a.Question.Repaired && (a.Question.Repair == nil || a.Question.Repair.Guessed()) {
		out = append(out, "the model's arguments were malformed, so adze repaired them"+repairSteps(a.Question.Repair))
	}
	if d := a.Question.Tool; d.AllowNoSchema {
		out = append(out, fmt.Sprintf("%s has no schema (%s), so nothing checked its arguments", d.Name, d.NoSchemaMode))
	}
	if a.Question.Origin == tool.FromText {
		out = append(out, "the model wrote this call as text")
	}
	if a.Question.Agent != "" {
		out = append(out, "asked by the subagent "+a.Question.Agent)
	}
	return out
}
