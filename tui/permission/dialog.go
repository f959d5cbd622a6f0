// Package permission is the dialog that asks the user whether a call may run. It also has the types
// for questions and answers.
//
// The one rule: the dialog never hides a part of a question without a hint, and a key pressed for
// another purpose never answers it.
//
// Start reading at Dialog.Render; question.go does the layout. Known limits: questions are answered
// one by one, in order.
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

// Guard is the minimum time that a dialog is visible, and without other keys, before keys answer
// it: a user must not answer by accident.
const Guard = 300 * time.Millisecond

// Labels name the answer keys.
type Labels struct {
	Once, All, Other, Edit, No, Refuse, Stop, Down, Up, Mode string
	Send, Back, Line, Flip, Next                             string // for an open text or open hunks
}

// Step is the question's current view.
type Step uint8

// Steps.
const (
	AtQuestion Step = iota
	AtReason        // writing a reason
	AtText          // editing the call's text
	AtHunks         // choosing hunks
)

// Asked is a waiting question.
type Asked struct {
	ask.Permission
	Reply chan ask.Answer // buffered, capacity 1
}

// Unasked withdraws a question after its call has ended.
type Unasked struct{ *Asked }

// Dialog asks whether calls may run. Questions are answered in order.
type Dialog struct {
	theme *draw.Theme
	keys  Labels
	queue []*Asked
	step  Step
	Wait  string // why keys do not answer now, or ""
	// Reason is the user's reason for the model; Text is the edited call.
	Reason, Text edit.Editor
	initialText  string // initial Text
	textWidth    int
	hunks        []hunk // the change's hunks; nil unless opened
	hunk         int    // current hunk
	scrolled     int
	grant        int      // the shown grant's index
	hidden       int      // question rows below the window when last drawn
	cwd          string   // workspace: a command with another folder shows it
	layout       ui.Sheaf // question layout for width w; nil if outdated
	w            int
	ruleAt       int // row in kept where the rule begins
	decisive     int // rows in kept that describe an answer's effect
	room         int // window rows when last drawn
	rowsSeen     int // rows in kept shown so far, from the first
	last         int // end of the last shown hunk row
}

// New returns an empty dialog with labels for its keys; cwd is the workspace.
func New(t *draw.Theme, k Labels, cwd string) *Dialog {
	return &Dialog{theme: t, keys: k, cwd: cwd}
}

// Naming changes the labels; empty ones hide the keys.
func (p *Dialog) Naming(k Labels) { p.keys = k }

// Step returns the step for the first question.
func (p *Dialog) Step() Step { return p.step }

func (p *Dialog) goTo(s Step) { p.step, p.scrolled, p.rowsSeen, p.last, p.layout = s, 0, 0, 0, nil }

// Explain opens the reason field, or returns from it.
func (p *Dialog) Explain(on bool) {
	switch {
	case on:
		p.step = AtReason // keeps the question in view
	case p.hunks != nil:
		p.goTo(AtHunks)
		p.Move(0)
	default:
		p.step = AtQuestion
	}
}

// Refuse denies the first question, or its refused hunks, with the written reason.
func (p *Dialog) Refuse() {
	if p.hunks != nil {
		p.Part()
		return
	}
	p.Answer(ask.Answer{Choice: ask.Deny, Reason: strings.TrimSpace(p.Reason.Text)})
}

// First returns the shown question, or nil.
func (p *Dialog) First() *Asked {
	if !p.Open() {
		return nil
	}
	return p.queue[0]
}

// Stage reports whether the question is about a staged turn's changes.
func (p *Dialog) Stage() bool {
	return p.Open() && slices.ContainsFunc(p.queue[0].Question.Needs, func(n tool.Need) bool { return n.Reach == tool.OwnStage })
}

// Open reports whether a question waits.
func (p *Dialog) Open() bool { return len(p.queue) > 0 }

// Add queues a question.
func (p *Dialog) Add(a *Asked) {
	p.queue = append(p.queue, a)
	if len(p.queue) == 1 {
		p.begin()
	}
}

func (p *Dialog) begin() {
	p.Reason, p.Text, p.hunks, p.hunk, p.rowsSeen = edit.Editor{}, edit.Editor{}, nil, 0, 0
	p.goTo(AtQuestion)
	if p.grant = 0; p.Grants() && !p.OfEdits() {
		p.grant = max(slices.Index(p.grants(), grant{ask.ForSession, p.queue[0].Usual}), 0)
	}
}

// Remove withdraws a question after its call has ended.
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

// fewest is how many rows must be shown before a question can be allowed, if it has that many.
const fewest = 10

// needed returns how many rows must be shown. Between hunks they may be any rows, because keys jump
// from hunk to hunk.
func (p *Dialog) needed() int {
	total := min(p.Body(max(p.w, 1)).Len(), fewest)
	if p.step == AtHunks {
		return total
	}
	return max(p.decisive, total)
}

// Unseen returns why the question cannot be allowed yet, or "" if all decisive rows were shown.
func (p *Dialog) Unseen() string {
	if !p.Open() || p.step != AtQuestion && p.step != AtHunks {
		return ""
	}
	if left := p.needed() - p.rowsSeen; left > 0 {
		if p.room == 0 {
			return "the window is too small to show the question: enlarge it, or say no"
		}
		return fmt.Sprintf("%s not seen yet: %s shows more", plural.Of(left, "row"), p.keys.Down)
	}
	return ""
}

// Scroll moves the question by at most the window's height, so that no row is skipped.
func (p *Dialog) Scroll(by int) {
	by = min(max(by, -max(p.room, 1)), max(p.room, 1))
	p.scrolled = max(p.scrolled+min(by, p.hidden), 0)
}

// Want returns the preferred height.
func (p *Dialog) Want(w int) int {
	if !p.Open() {
		return 0
	}
	if p.step == AtText {
		return 2 + len(p.Text.Places(max(w-1, 1))) + len(p.choices(w))
	}
	return 1 + p.Body(w).Len() + 1 + len(p.choices(w))
}

// Render draws the first question. If its end does not fit, a row says so.
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
		p.rowsSeen += max(to-max(p.scrolled, p.last), 0)
		p.last = max(p.last, to)
	case p.scrolled <= p.rowsSeen:
		p.rowsSeen = max(p.rowsSeen, to)
	}
	rows = body.Append(rows, p.scrolled, min(p.scrolled+room, total))
	rows = append(rows, p.rest(total, w))
	if p.step == AtReason {
		lead := p.theme.Pen().Fixed(draw.Key, "Why not? ").Done()
		own, x, y := p.Reason.Rows(p.theme, w-lead.Width())
		rows = append(rows, p.theme.Pen().Row(lead).Row(own[y]).Done())
		if p.Reason.Empty() {
			hint := p.theme.Pen().Row(rows[len(rows)-1]).Put(draw.Dim, safeterm.Name(p.keys.Send+" says no without a reason, as "+p.keys.Refuse+" does at once · "+p.keys.Back+" goes back")).Done()
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

// roomForTitle is the width that the first row needs besides the reason: lead, tool, the count of
// waiting questions, and some of the line.
const roomForTitle = 48

// beside returns the reason for the question if it fits into the first row; otherwise it gets its
// own row.
func (p *Dialog) beside(w int) string {
	why := safeterm.Name(p.queue[0].Why)
	if why.Len() == 0 || p.theme.Line(draw.Plain, why).Width()+roomForTitle > w {
		return ""
	}
	return " · " + p.queue[0].Why
}

// rest draws which rows are visible, unless all are.
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

// waiting counts the questions after this one.
func (p *Dialog) waiting() int {
	n := len(p.queue) - 1
	if more := p.queue[0].Waiting; more != nil {
		n += more()
	}
	return n
}

// warnings returns reasons to be careful.
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
