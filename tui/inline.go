package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/screen"
	"adze/tui/ui"
)

// inline is the interface without the alternate screen: entries of the conversation that are final
// go to the terminal's own scrollback, once, and what still changes is painted below them. What
// needs the whole screen (help, panes, lists, the whole conversation) takes the alternate one while
// it is open.
type inline struct {
	on      bool
	greeted bool
	written int  // entries that are in the scrollback
	whole   bool // the whole conversation is looked at
}

// inlineHistory is how many entries of a resumed conversation are written at the start.
const inlineHistory = 100

// present is the next frame for the screen; inline, it hands over what became final.
func (m *model) present() screen.Frame {
	if !m.inline.on {
		return m.frame()
	}
	final := m.settled()
	f := m.region()
	if m.needsScreen() {
		f = m.frame()
		f.Over = true
	}
	f.Scrolled = final
	return f
}

// needsScreen reports whether something is open that is not drawn in the region.
func (m *model) needsScreen() bool {
	return m.inline.whole || m.help.Open || m.picker.Open || m.view.Open() || m.first != nil
}

// settled lays out what became final since it was last called.
func (m *model) settled() []draw.Row {
	if m.w <= 0 || m.h <= 0 || m.first != nil {
		return nil
	}
	rows := m.greeting()
	t := m.transcript
	if m.inline.written > t.Len() {
		m.inline.written = t.Len()
		rows = append(rows, draw.Row{}, m.draw.Theme.Line(draw.Dim, safeterm.Fixed("(your last message was taken back, with all that came after it)")).Fit(m.w))
	}
	until := m.inline.written
	for until < t.Len() && t.Final(until) {
		until++
	}
	return append(rows, m.write(until)...)
}

// write lays out the entries up to until as they are when they are not expanded, and counts them as
// written.
func (m *model) write(until int) []draw.Row {
	expanded := m.draw.Expanded
	m.draw.Expanded = false
	defer func() { m.draw.Expanded = expanded }()
	var rows []draw.Row
	for i := m.inline.written; i < until; i++ {
		rows = m.transcript.AppendEntry(rows, i, m.w)
	}
	m.inline.written = until
	return rows
}

// greeting is what stands above everything, once. Of a long resumed conversation only the end is
// repeated.
func (m *model) greeting() []draw.Row {
	if m.inline.greeted {
		return nil
	}
	m.inline.greeted = true
	var rows []draw.Row
	if m.inline.written > 0 { // it goes on where the terminal shows it already
		return nil
	}
	rows = m.welcome(m.draw.Theme, m.w)
	if n := m.transcript.Len() - inlineHistory; n > 0 {
		m.inline.written = n
		text := "… " + plural.Of(n, "earlier entry") + "; " + m.keys.label(expand) + " shows all"
		rows = append(rows, draw.Row{}, m.draw.Theme.Line(draw.Dim, safeterm.Name(text)).Fit(m.w))
	}
	return append(rows, draw.Row{})
}

// lastWords are the rows of what did not become final: when the interface ends, they stay as they
// are.
func (m *model) lastWords() []draw.Row {
	if !m.inline.on || m.w <= 0 {
		return nil
	}
	return append(m.settled(), m.write(m.transcript.Len())...)
}

// region draws what still changes.
func (m *model) region() screen.Frame {
	f := screen.Frame{W: m.w, H: m.h, Fresh: m.redrawn, Title: m.title()}
	if m.w <= 0 || m.h <= 0 {
		return f
	}
	running := m.transcript.Tail(m.inline.written, m.w, m.h)
	want, status := m.wants()
	l := Stack(m.w, m.h, want, len(running))
	c := ui.Canvas{Rows: make([]draw.Row, l.Status.Y+l.Status.H), Theme: m.draw.Theme}
	if l.TooSmall {
		c.Put(ui.At(0, 0, m.w, l.Status.Y), m.tooSmall())
	} else {
		c.Put(l.Transcript, running[len(running)-l.Transcript.H:])
		m.lower(&c, l, &f)
	}
	c.Put(l.Status, tail(status, l.Status.H))
	for i, r := range c.Rows {
		c.Rows[i] = r.Fit(m.w)
	}
	f.Rows = c.Rows
	return f
}

// canScroll says why the conversation does not scroll: inline, that is the terminal's.
func canScroll(m *model) string {
	if m.inline.on && !m.inline.whole {
		return "your terminal scrolls; " + m.keys.label(expand) + " shows the whole conversation"
	}
	return ""
}

// either is the first reason of several.
func either(reasons ...func(*model) string) func(*model) string {
	return func(m *model) string {
		for _, can := range reasons {
			if why := can(m); why != "" {
				return why
			}
		}
		return ""
	}
}

func canMouse(m *model) string {
	if m.inline.on && !m.needsScreen() {
		return "the mouse is your terminal's"
	}
	return ""
}

// toggleExpanded shows all of results and thoughts, or less; inline, all of the conversation.
func (m *model) toggleExpanded() tea.Cmd {
	m.draw.Expanded = !m.draw.Expanded
	if m.inline.on {
		m.inline.whole = m.draw.Expanded
		m.transcript.ToEnd()
	}
	return nil
}

// Transcript is the whole conversation as it was drawn, safe for a terminal. It is for the time
// after Run.
func (u *UI) Transcript() string {
	var b strings.Builder
	for _, r := range u.model.transcript.All(u.model.w) {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}
