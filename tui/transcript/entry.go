package transcript

import (
	"fmt"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/ui"
)

// entry is something in the transcript that can lay itself out.
type entry interface {
	// rows lays the entry out for a width; it keeps the result until forget or a change.
	rows(d *ui.Drawing, w int) []draw.Row
	// forget drops what rows keeps.
	forget()
	// tight reports that no empty row stands between it and the entry before it.
	tight() bool
}

// laidOut keeps the rows of an entry that does not change by itself.
type laidOut struct {
	kept     []draw.Row
	w        int
	expanded bool
}

func (l *laidOut) forget() { l.kept = nil }

// get returns the kept rows, or keeps those that lay makes.
func (l *laidOut) get(d *ui.Drawing, w int, lay func() []draw.Row) []draw.Row {
	if l.kept == nil || l.w != w || l.expanded != d.Expanded {
		l.kept, l.w, l.expanded = lay(), w, d.Expanded
	}
	return l.kept
}

// userEntry is what the user said.
type userEntry struct {
	laidOut
	message string // its id
	text    safeterm.Text
	own     bool // it tells of a command of the user's own
}

func (e *userEntry) tight() bool { return false }

func (e *userEntry) rows(d *ui.Drawing, w int) []draw.Row {
	return e.get(d, w, func() []draw.Row {
		bar := d.Theme.Pen().Fixed(draw.Accent|draw.OnYou, "┃ ").Done()
		var rows []draw.Row
		lines := e.text.Lines()
		most := userRows
		if e.own {
			most = ownRows
		}
		for i, line := range lines {
			if len(rows) > most && !d.Expanded {
				more := fmt.Sprintf("… %s (%s shows them)", plural.Of(len(lines)-i, "more line"), d.Expand)
				rows = append(rows, d.Theme.Pen().Row(bar).Put(draw.Dim|draw.OnYou, safeterm.Name(more)).Done())
				break
			}
			rows = d.Theme.Wrap(rows, w, draw.Margins{First: bar, Rest: bar}, draw.Span{Style: draw.You | draw.OnYou, Text: line})
		}
		d.Theme.Grounded(rows, draw.OnYou, w)
		return rows
	})
}

// userRows is how much of what the user said is shown: a pasted log must not fill the screen.
const userRows = 20

// ownRows is the same for a command of the user's own of which only the message for the model is
// left.
const ownRows = 1

// noteEntry is a remark of ours: a retry, a notice, how a turn ended.
type noteEntry struct {
	laidOut
	style  draw.Style
	lines  []safeterm.Text
	closes bool // a turn: it belongs to what stands above
}

func (e *noteEntry) tight() bool { return e.closes }

func (e *noteEntry) rows(d *ui.Drawing, w int) []draw.Row {
	return e.get(d, w, func() []draw.Row {
		var rows []draw.Row
		for _, line := range e.lines {
			rows = d.Theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: e.style, Text: line})
		}
		return rows
	})
}

// proseEntry is text of the model: an answer, or its thinking.
type proseEntry struct {
	draw.Prose
	message   string // its id
	reasoning bool
	done      bool
	thought   laidOut
	after     bool // thoughts of the same message stand above it
	written   bool // it is where it cannot be drawn again
}

func (e *proseEntry) tight() bool { return e.after }

func (e *proseEntry) forget() {
	e.Prose.Forget()
	e.thought.forget()
}

func (e *proseEntry) rows(d *ui.Drawing, w int) []draw.Row {
	switch {
	case !e.reasoning:
		return e.Prose.Rows(d.Theme, w)
	case e.done:
		return e.thought.get(d, w, func() []draw.Row { return e.thoughts(d, w) })
	}
	return e.thoughts(d, w)
}

// thinkingRows is how much of running thoughts is shown.
const thinkingRows = 3

// thoughts draws thinking dimmed: the last rows while it runs, one row when it is over.
func (e *proseEntry) thoughts(d *ui.Drawing, w int) []draw.Row {
	all := e.Prose.Rows(draw.Bare(), w-2)
	if e.done && !d.Expanded {
		text := "thought for " + plural.Of(len(all), "row") + " (" + d.Expand + " shows them)"
		return []draw.Row{d.Theme.Line(draw.Dim, safeterm.Name(text)).Fit(w)}
	}
	if !d.Expanded {
		all = all[max(len(all)-thinkingRows, 0):]
	}
	rows := make([]draw.Row, len(all))
	for i, r := range all {
		rows[i] = d.Theme.Pen().Fixed(draw.Border, "┊ ").Put(draw.Dim, safeterm.Clean(r.String())).Done()
	}
	return rows
}
