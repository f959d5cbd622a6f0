package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/transcript"
	"adze/tui/ui"
)

// conversation is what was said, as the user goes through it.
//
// Inline is the interface without the alternate screen: entries of the conversation that are final
// go to the terminal's own scrollback, once, and what still changes is painted below them. What
// needs the whole screen (help, panes, lists, the whole conversation) takes the alternate one while
// it is open.
type conversation struct {
	host
	transcript *transcript.Pane
	draw       *ui.Drawing
	welcome    func(t *draw.Theme, w int) []draw.Row

	inline  bool
	greeted bool
	written int  // entries that are in the scrollback
	whole   bool // the whole conversation is looked at
}

// inlineHistory is how many entries of a resumed conversation are written at the start.
const inlineHistory = 100

// settled lays out what became final since it was last called.
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

// write lays out the entries up to until as they are when they are not expanded, and counts them as
// written.
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

// greeting is what stands above everything, once. Of a long resumed conversation only the end is
// repeated.
func (c *conversation) greeting(w int) []draw.Row {
	if c.greeted {
		return nil
	}
	c.greeted = true
	var rows []draw.Row
	if c.written > 0 { // it goes on where the terminal shows it already
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

// canScroll says why the conversation does not scroll: inline, that is the terminal's.
func (c *conversation) canScroll() string {
	return ui.Why(c.inline && !c.whole, "the terminal scrolls; "+c.label(expand)+" shows the whole conversation")
}

// toggle shows all of results and thoughts, or less; inline, all of the conversation.
func (c *conversation) toggle() tea.Cmd {
	c.draw.Expanded = !c.draw.Expanded
	if c.inline {
		c.whole = c.draw.Expanded
		c.transcript.ToEnd()
	}
	return nil
}

// keys move through the conversation; those that also write act only while empty has no reason
// against it.
func (c *conversation) keys(empty func() string) []binding {
	scroll := func(by int) func() tea.Cmd { return does(func() { c.transcript.Scroll(c.draw, by) }) }
	pages := func(by int) func() tea.Cmd {
		return does(func() { c.transcript.Scroll(c.draw, by*c.transcript.PageRows()) })
	}
	top, bottom := does(func() { c.transcript.ToStart() }), does(func() { c.transcript.ToEnd() })
	whenEmpty := func() string {
		if why := empty(); why != "" {
			return why
		}
		return c.canScroll()
	}
	return []binding{
		{id: "page-up", action: pageUp, Binding: ui.KeyNamed("PgUp", "a page up", "pgup"), can: c.canScroll, do: pages(-1)},
		{id: "page-down", action: pageDown, Binding: ui.KeyNamed("PgDn", "a page down", "pgdown"), can: c.canScroll, do: pages(1)},
		{id: "row-up", action: lineUp, Binding: ui.Key("a row up", "shift+up", "ctrl+up"), can: c.canScroll, do: scroll(-1)},
		{id: "row-down", action: lineDown, Binding: ui.Key("a row down", "shift+down", "ctrl+down"), can: c.canScroll, do: scroll(1)},
		{id: "top-when-empty", action: toTop, Binding: ui.KeyNamed("Home", "to the beginning", "home"), can: whenEmpty, do: top},
		{id: "top", action: toTop, Binding: ui.Key("to the beginning", "ctrl+home"), can: c.canScroll, do: top},
		{id: "bottom-when-empty", action: toBottom, Binding: ui.KeyNamed("End", "the latest, and follow it", "end"), can: whenEmpty, do: bottom},
		{id: "bottom", action: toBottom, Binding: ui.Key("the latest, and follow it", "ctrl+end"), can: c.canScroll, do: bottom},
	}
}
