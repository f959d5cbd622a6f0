package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/internal/safeterm"
	"adze/tool"
	"adze/tui/draw"
)

// guard is how long a dialog must have been seen, and how long no key was pressed, before keys answer it:
// who is typing when it appears must not answer by accident.
const guard = 300 * time.Millisecond

// dialogLabels name the keys that answer, as people read them.
type dialogLabels struct{ once, session, always, no, why, stop, down, up string }

// asked is a question that waits for its answer.
type asked struct {
	Ask
	reply chan Answer // holds one
}

// permission is the dialog that asks whether a call may go on. Questions are answered in their order.
type permission struct {
	theme *draw.Theme
	now   func() time.Time
	keys  dialogLabels
	queue []*asked
	armed time.Time // from when on keys answer
	// reason is what the person writes to the model; it is open while asking is.
	reason    editor
	reasoning bool
	scrolled  int
	hidden    int    // rows of the question below the window, as last drawn
	cwd       string // the workspace: a command that runs elsewhere says so
	kept      sheaf  // the question, laid out for width w; nil: not yet
	w         int
}

// newDialog names the keys that answer, and the workspace: a command that runs elsewhere says so.
func newDialog(t *draw.Theme, now func() time.Time, k dialogLabels, cwd string) *permission {
	return &permission{theme: t, now: now, keys: k, cwd: cwd}
}

// naming has other keys named, or none.
func (p *permission) naming(k dialogLabels) { p.keys = k }

// explain lets the person write a reason, or goes back to the question.
func (p *permission) explain(on bool) { p.reasoning = on }

// refuse denies the first question, with the reason that was written.
func (p *permission) refuse() {
	p.answer(Answer{Choice: Deny, Reason: strings.TrimSpace(p.reason.text)})
}

// first is the question that is shown; nil: none is open.
func (p *permission) first() *asked {
	if !p.open() {
		return nil
	}
	return p.queue[0]
}

func (p *permission) open() bool { return len(p.queue) > 0 }

// ready reports whether keys answer.
func (p *permission) ready() bool { return p.open() && !p.now().Before(p.armed) }

// holdOff starts the guard again: the person is still writing something else.
func (p *permission) holdOff() { p.armed = p.now().Add(guard) }

func (p *permission) add(a *asked) {
	p.queue = append(p.queue, a)
	if len(p.queue) == 1 {
		p.begin()
	}
}

func (p *permission) begin() {
	p.reason, p.reasoning, p.scrolled, p.kept = editor{}, false, 0, nil
	p.holdOff()
}

// remove takes back a question whose call has ended.
func (p *permission) remove(a *asked) {
	first := p.open() && p.queue[0] == a
	p.queue = slices.DeleteFunc(p.queue, func(b *asked) bool { return a == b })
	if first {
		p.begin()
	}
}

// answer answers the first question.
func (p *permission) answer(a Answer) {
	p.queue[0].reply <- a
	p.queue = p.queue[1:]
	p.begin()
}

// grants reports whether a rule for the session is offered.
func (p *permission) grants() bool { return p.open() && p.queue[0].Rule != "" }

// saves reports whether keeping the rule is offered.
func (p *permission) saves() bool { return p.grants() && p.queue[0].Save != "" }

// scroll moves the question under its keys.
func (p *permission) scroll(by int) { p.scrolled = max(p.scrolled+min(by, p.hidden), 0) }

// Want is how many rows the dialog would like.
func (p *permission) Want(w int) int {
	if !p.open() {
		return 0
	}
	return 1 + p.body(w).Len() + permissionFoot
}

// permissionFoot is how many rows stand below the question: what is left of it, and the keys.
const permissionFoot = 2

// Render draws the first question. Its end is never hidden without saying so.
func (p *permission) Render(w, h int) (rows []draw.Row, x, y int) {
	a := p.queue[0]
	text := "permission: " + a.Question.Tool.Name
	if n := p.waiting(); n > 0 {
		text += fmt.Sprintf(" · %d more %s", n, map[bool]string{true: "waits", false: "wait"}[n == 1])
	}
	rows = append(rows, p.title(w, text))
	body := p.body(w)
	room := h - 1 - permissionFoot
	total := body.Len()
	p.scrolled = min(p.scrolled, max(total-room, 0))
	p.hidden = max(total-room-p.scrolled, 0)
	rows = body.Append(rows, p.scrolled, min(p.scrolled+room, total))
	rows = append(rows, p.rest(total, w))
	if p.reasoning {
		lead := p.theme.Pen().Fixed(draw.Key, "Tell the model why: ").Done()
		own, x, y := p.reason.Rows(p.theme, w-lead.Width())
		rows = append(rows, p.theme.Pen().Row(lead).Row(own[y]).Done())
		return rows, x + lead.Width(), len(rows) - 1
	}
	return append(rows, p.choices(w)), -1, -1
}

func (p *permission) title(w int, text string) draw.Row {
	return p.theme.Pen().Fixed(draw.Warn, "━━ ").Put(draw.Bold, safeterm.Name(text)).Fixed(draw.Plain, " ").
		Rule(draw.Warn, w).Done().Fit(w)
}

// rest says which rows of the question are seen, where not all are.
func (p *permission) rest(total, w int) draw.Row {
	if p.hidden == 0 && p.scrolled == 0 {
		return draw.Row{}
	}
	style, text := draw.Dim, rowsOf(p.scrolled, total-p.hidden, total)
	if p.hidden > 0 {
		style, text = draw.Warn, text+fmt.Sprintf(" · %s for the rest", p.keys.down)
	} else {
		text += fmt.Sprintf(" · that is all (%s goes back)", p.keys.up)
	}
	return p.theme.Line(style, safeterm.Name(text)).Fit(w)
}

// waiting counts the questions behind this one.
func (p *permission) waiting() int {
	n := len(p.queue) - 1
	if more := p.queue[0].Waiting; more != nil {
		n += more()
	}
	return n
}

func (p *permission) choices(w int) draw.Row {
	if !p.ready() {
		return p.theme.Line(draw.Dim, safeterm.Fixed("keys act in a moment…")).Fit(w)
	}
	long := p.choice([]string{"once", "this session", "always", "no", "no, and say why", "stop"}, "   ")
	if long.Width() <= w {
		return long
	}
	return p.choice([]string{"once", "session", "always", "no", "no, why", "stop"}, "  ").Fit(w)
}

func (p *permission) choice(words []string, gap string) draw.Row {
	pen := p.theme.Pen()
	k := p.keys
	for i, key := range []string{k.once, k.session, k.always, k.no, k.why, k.stop} {
		if i == 1 && !p.grants() || i == 2 && !p.saves() {
			continue
		}
		if pen.Width() > 0 {
			pen.Fixed(draw.Plain, gap)
		}
		pen.Fixed(draw.Key, key).Fixed(draw.Plain, " "+words[i])
	}
	return pen.Done()
}

// warnings are reasons to look twice.
func warnings(a *asked) []string {
	var out []string
	if a.Why != "" {
		out = append(out, a.Why)
	}
	if a.Question.Repaired {
		out = append(out, "the model's arguments were malformed and have been repaired"+repairSteps(a.Question.Repair))
	}
	if d := a.Question.Tool; d.AllowNoSchema {
		out = append(out, fmt.Sprintf("the arguments were checked by no schema: %s has none (%s)", d.Name, d.NoSchemaMode))
	}
	if a.Question.Origin == tool.FromText {
		out = append(out, "the call was found in the model's text")
	}
	if a.Question.Agent != "" {
		out = append(out, "asked by the subagent "+a.Question.Agent)
	}
	return out
}
