package transcript

import (
	"fmt"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/ui"
)

// entry is a part of the transcript that lays itself out.
type entry interface {
	// rows returns the layout for a width, cached until forget or a change.
	rows(d *ui.Drawing, w int) []draw.Row
	// forget drops the cached layout.
	forget()
	// tight reports whether no empty row precedes the entry.
	tight() bool
}

// laidOut caches rows for an entry that does not change by itself.
type laidOut struct {
	cachedRows []draw.Row
	w          int
	expanded   bool
}

func (l *laidOut) forget() { l.cachedRows = nil }

// get returns the cached rows, or lay's result.
func (l *laidOut) get(d *ui.Drawing, w int, lay func() []draw.Row) []draw.Row {
	if l.cachedRows == nil || l.w != w || l.expanded != d.Expanded {
		l.cachedRows, l.w, l.expanded = lay(), w, d.Expanded
	}
	return l.cachedRows
}

// userEntry is a message from the user.
type userEntry struct {
	laidOut
	message string // message id
	text    safeterm.Text
	own     bool // reports the user's own command
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
			rows = d.Theme.Wrap(rows, w, draw.Margins{First: bar, Continuation: bar}, draw.Span{Style: draw.UserText | draw.OnYou, Text: line})
		}
		d.Theme.Grounded(rows, draw.OnYou, w)
		return rows
	})
}

// userRows limits a user message's height, so that a pasted log does not fill the screen.
const userRows = 20

// ownRows limits the message about the user's own command.
const ownRows = 1

// noteEntry is a remark by the program: a retry, a notice, the end of a turn.
type noteEntry struct {
	laidOut
	style  draw.Style
	lines  []safeterm.Text
	closes bool // ends a turn and belongs to the entry above
	// replaced means that a later retry tells more: the entry has no rows.
	replaced bool
}

func (e *noteEntry) tight() bool             { return e.closes }
func (e *noteEntry) hidden(*ui.Drawing) bool { return e.replaced }

func (e *noteEntry) rows(d *ui.Drawing, w int) []draw.Row {
	return e.get(d, w, func() []draw.Row {
		var rows []draw.Row
		if e.replaced {
			return rows
		}
		for _, line := range e.lines {
			rows = d.Theme.Wrap(rows, w, draw.Margins{}, draw.Span{Style: e.style, Text: line})
		}
		return rows
	})
}

// proseEntry is the model's answer or thinking.
type proseEntry struct {
	draw.Prose
	message   string // message id
	reasoning bool
	done      bool
	thought   laidOut
	after     bool // follows thinking of the same message
	written   bool // already in the scrollback or printed
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

// thinkingRows limits running thinking.
const thinkingRows = 3

// thoughts draws dimmed thinking: its last rows while it runs, one row at the end.
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
