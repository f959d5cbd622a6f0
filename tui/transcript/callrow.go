package transcript

import (
	"fmt"
	"strings"
	"time"

	"adze/internal/text/safeterm"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/ui"
)

// row draws the call's first row: state, verb, object, the model's note (dim), and the result at
// the right.
func (e *callEntry) row(d *ui.Drawing, w int) draw.Row {
	if e.quiet() && !d.Expanded {
		return e.shared(d.Theme, w)
	}
	t, h := d.Theme, e.head()
	mark, style := e.mark()
	p := t.Pen().Fixed(style, mark+" ").Put(draw.Bold, safeterm.Name(h.Verb))
	object := h.Line()
	if object != "" {
		p.Fixed(draw.Plain, between(h.Verb)).Put(objectStyle(h), safeterm.Name(object))
	}
	left := p.Done()
	right := e.right(d, w-min(left.Width(), w/2)-2)
	left = left.Fit(max(w-right.Width()-2, w/3))
	p = t.Pen().Row(left)
	if note := e.note(d, h); note != "" {
		at := max(left.Width()+2, w*2/5)
		if room := w - right.Width() - 2 - at; room >= leastNote {
			p.Pad(at).Row(t.Line(draw.Dim, safeterm.Name(note)).Fit(room))
		}
	}
	if right.Width() == 0 {
		return p.Done().Fit(w)
	}
	return p.Pad(w - right.Width()).Row(right).Done().Fit(w)
}

// leastNote is a note's minimum width, in cells.
const leastNote = 8

// between returns the space between a verb and its object; a command directly follows its prompt
// sign.
func between(verb string) string {
	if strings.HasSuffix(verb, "$") {
		return " "
	}
	return "  "
}

// objectStyle returns bold for a command line.
func objectStyle(h tool.Heading) draw.Style {
	if strings.HasSuffix(h.Verb, "$") {
		return draw.Bold
	}
	return draw.Plain
}

// shared draws a row with several read-only calls.
func (e *callEntry) shared(t *draw.Theme, w int) draw.Row {
	all := e.members()
	mark, style := "✓", draw.Good
	for _, c := range all {
		if m, s := c.mark(); c.outcome == nil {
			mark, style = m, s
		}
	}
	p := t.Pen().Fixed(style, mark+" ").Put(draw.Bold, safeterm.Name(e.heading.Verb)).Fixed(draw.Plain, between(e.heading.Verb))
	for i, c := range all {
		one := t.Pen()
		if i > 0 {
			one.Fixed(draw.Dim, " · ")
		}
		one.Put(draw.Plain, safeterm.Name(c.heading.Line()))
		if c.heading.Result != "" {
			lead := " "
			if len(all) == 1 && c.heading.Line() != "" {
				lead = " · "
			}
			one.Put(draw.Dim, safeterm.Name(lead+c.heading.Result))
		}
		more := ""
		if rest := len(all) - i - 1; rest > 0 {
			more = fmt.Sprintf(" · %d more", rest)
		}
		row := one.Done()
		if i > 0 && p.Width()+row.Width()+len(more) > w {
			return p.Fixed(draw.Dim, fmt.Sprintf(" · %d more", len(all)-i)).Done().Fit(w)
		}
		p.Row(row)
	}
	return p.Done().Fit(w)
}

func (e *callEntry) mark() (string, draw.Style) {
	switch {
	case e.outcome == nil && !e.started:
		return "○", draw.Dim
	case e.outcome == nil:
		return "●", draw.Accent
	}
	switch e.outcome.Status {
	case tool.Completed:
		return "✓", draw.Good
	case tool.Denied, tool.Aborted:
		return "⊘", draw.Warn
	}
	return "✗", draw.Bad
}

// note returns the text beside the command: its single output line, or the model's note.
func (e *callEntry) note(d *ui.Drawing, h tool.Heading) string {
	if line, only := e.onlyLine(d); only && !d.Expanded {
		return line
	}
	return h.Note
}

// right draws the result, a failure first. Words that do not fit are omitted from the end.
func (e *callEntry) right(d *ui.Drawing, w int) draw.Row {
	t := d.Theme
	p := t.Pen()
	put := func(s draw.Style, text string) {
		one := t.Pen()
		if p.Width() > 0 {
			one.Fixed(draw.Dim, " · ")
		}
		row := one.Put(s, safeterm.Name(text)).Done()
		if text != "" && (p.Width() == 0 || p.Width()+row.Width() <= w) {
			p.Row(row)
		}
	}
	result := e.head().Result
	switch o := e.outcome; {
	case o == nil && e.forming > 0:
		put(draw.Dim, "being written, "+ui.Size(e.forming))
	case o == nil && !e.started && e.asked:
		put(draw.Warn, "needs your OK")
	case o == nil && !e.started:
		put(draw.Dim, "waiting")
	case o == nil:
		took := max(d.Now().Sub(e.since), 0)
		put(draw.Dim, e.soFar(result, took))
		put(draw.Dim, elapsed(took))
		e.allowed(put)
	default:
		word, style := e.failure(), draw.Bad
		if o.Status == tool.Denied || o.Status == tool.Aborted {
			style = draw.Warn
		}
		if first, rest, _ := strings.Cut(result, " · "); first != "" && (o.Code == tool.CodeExit || first == word) {
			put(style, first) // the result begins with the failure
			put(draw.Dim, rest)
		} else {
			put(style, word)
			put(draw.Dim, result)
		}
		if n := len(o.Record.Refused); n > 0 {
			put(draw.Warn, fmt.Sprintf("%d refused", n))
		}
		if o.Duration >= 100*time.Millisecond {
			put(draw.Dim, ui.Seconds(o.Duration))
		}
		for _, doubt := range e.doubts() {
			put(draw.Warn, doubt)
		}
		e.allowed(put)
	}
	return p.Done()
}

// soFar returns a running call's result, updated once a second: counts that change in every frame
// would cost output and are not readable.
func (e *callEntry) soFar(result string, took time.Duration) string {
	if second := int(took / time.Second); e.counted == "" || second != e.second {
		e.counted, e.second = result, second
	}
	return e.counted
}

func (e *callEntry) allowed(put func(draw.Style, string)) {
	if e.approved && !e.ownCommand { // the user's own commands need no permission
		put(draw.Dim, "allowed by you")
	}
}

// failure describes the failure, or returns "".
func (e *callEntry) failure() string {
	switch o := e.outcome; {
	case o.Status == tool.Completed:
		return ""
	case e.refused:
		return "denied by you"
	case o.Code != "":
		return tool.InWords(o.Code)
	case o.Status == tool.Denied:
		return tool.InWords(tool.CodeDenied)
	case o.Status == tool.Invalid:
		return tool.InWords(tool.CodeInvalidArguments)
	case o.Status == tool.Aborted:
		return tool.InWords(tool.CodeAborted)
	}
	return tool.InWords(tool.CodeFailed)
}

// elapsed formats a running time in the steps in which it is redrawn.
func elapsed(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d/time.Second))
	}
	return ui.Clock(d)
}
