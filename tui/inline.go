package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/transcript"
	"adze/tui/ui"
)

// conversation scrolls and expands the transcript.
//
// Inline is the interface without the alternate screen: final entries go to the terminal's own
// scrollback, once, and the rest is painted below them. Help, panes, lists and the whole
// conversation take the alternate screen while they are open.
type conversation struct {
	host
	transcript *transcript.Pane
	draw       *ui.Drawing
	welcome    func(t *draw.Theme, w int) []draw.Row

	inline  bool
	greeted bool
	written int  // entries in the scrollback
	whole   bool // the whole conversation is shown
}

// inlineHistory is the number of entries of a resumed conversation written at the start.
const inlineHistory = 100

// settled returns the rows that became final since the last call.
func (c *conversation) settled(w int) []draw.Row {
	rows := c.greeting(w)
	t := c.transcript
	if c.written > t.Len() {
		c.written = t.Len()
		rows = append(rows, draw.Row{}, c.draw.Theme.Line(draw.Dim, safeterm.Fixed("(your last message was taken back, with everything after it)")).Fit(w))
	}
	until := c.written
	for until < t.Len() && t.Final(until) {
		until++
	}
	return append(rows, c.write(until, w)...)
}

// write returns the rows of the entries up to until, not expanded, and marks them as written.
func (c *conversation) write(until, w int) []draw.Row {
	expanded := c.draw.Expanded
	c.draw.Expanded = false
	defer func() { c.draw.Expanded = expanded }()
	var rows []draw.Row
	for i := c.written; i < until; i++ {
		rows = c.transcript.AppendEntry(rows, i, w)
	}
	c.written = until
	return rows
}

// greeting returns the welcome, once. For a long resumed conversation it skips all but the last
// entries.
func (c *conversation) greeting(w int) []draw.Row {
	if c.greeted {
		return nil
	}
	c.greeted = true
	var rows []draw.Row
	if c.written > 0 { // the terminal already shows the entries
		return nil
	}
	rows = c.welcome(c.draw.Theme, w)
	if n := c.transcript.Len() - inlineHistory; n > 0 {
		c.written = n
		text := "… " + plural.Of(n, "earlier entry") + "; " + c.label(expand) + " shows all"
		rows = append(rows, draw.Row{}, c.draw.Theme.Line(draw.Dim, safeterm.Name(text)).Fit(w))
	}
	return append(rows, draw.Row{})
}

// canScroll returns why the conversation does not scroll, or "". Inline, the terminal scrolls.
func (c *conversation) canScroll() string {
	return ui.ReasonIf(c.inline && !c.whole, "the terminal scrolls; "+c.label(expand)+" shows the whole conversation")
}

// toggle expands or folds results and thoughts; inline, it shows the whole conversation.
func (c *conversation) toggle() tea.Cmd {
	c.draw.Expanded = !c.draw.Expanded
	if c.inline {
		c.whole = c.draw.Expanded
		c.transcript.ToEnd()
	}
	return nil
}

// keys returns the scroll keys. Those that also edit text are available only while empty returns
// "".
func (c *conversation) keys(empty func() string) []binding {
	scroll := func(by int) func() tea.Cmd { return keyFunc(func() { c.transcript.Scroll(c.draw, by) }) }
	pages := func(by int) func() tea.Cmd {
		return keyFunc(func() { c.transcript.Scroll(c.draw, by*c.transcript.PageRows()) })
	}
	top, bottom := keyFunc(func() { c.transcript.ToStart() }), keyFunc(func() { c.transcript.ToEnd() })
	whenEmpty := func() string {
		if why := empty(); why != "" {
			return why
		}
		return c.canScroll()
	}
	return []binding{
		{id: "page-up", action: pageUp, Binding: ui.KeyNamed("PgUp", "a page up", "pgup"), can: c.canScroll, run: pages(-1)},
		{id: "page-down", action: pageDown, Binding: ui.KeyNamed("PgDn", "a page down", "pgdown"), can: c.canScroll, run: pages(1)},
		{id: "row-up", action: lineUp, Binding: ui.Key("a row up", "shift+up", "ctrl+up"), can: c.canScroll, run: scroll(-1)},
		{id: "row-down", action: lineDown, Binding: ui.Key("a row down", "shift+down", "ctrl+down"), can: c.canScroll, run: scroll(1)},
		{id: "top-when-empty", action: toTop, Binding: ui.KeyNamed("Home", "to the beginning", "home"), can: whenEmpty, run: top},
		{id: "top", action: toTop, Binding: ui.Key("to the beginning", "ctrl+home"), can: c.canScroll, run: top},
		{id: "bottom-when-empty", action: toBottom, Binding: ui.KeyNamed("End", "the latest, and follow it", "end"), can: whenEmpty, run: bottom},
		{id: "bottom", action: toBottom, Binding: ui.Key("the latest, and follow it", "ctrl+end"), can: c.canScroll, run: bottom},
	}
}
