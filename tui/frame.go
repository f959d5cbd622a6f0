package tui

import (
	"path/filepath"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/draw"
	"adze/tui/pane"
	"adze/tui/screen"
	"adze/tui/ui"
)

func (m *model) frame() screen.Frame {
	f := screen.Frame{W: m.w, H: m.h, Fresh: m.window.redrawn, Mouse: m.window.mouse, Title: m.title()}
	if m.w <= 0 || m.h <= 0 {
		return f
	}
	want, status := m.wants()
	l := Arrange(m.w, m.h, want)
	c := ui.Canvas{Rows: make([]draw.Row, m.h), Theme: m.draw.Theme}
	switch {
	case l.TooSmall:
		c.Put(ui.NewRect(0, 0, m.w, m.h), tooSmall(m.draw.Theme))
	case m.help.pane.Open:
		rows, x, y := m.help.render(m.w, l.Status.Y)
		c.Put(ui.NewRect(0, 0, m.w, l.Status.Y), rows)
		f.Cursor, f.CursorX, f.CursorY = true, min(x, m.w-1), y
	case m.first.shown():
		m.drawFirst(&c, l, &f)
	default:
		m.panes(&c, l, &f)
	}
	c.Put(l.Status, tail(status, l.Status.H))
	for i, r := range c.Rows {
		c.Rows[i] = r.Fit(m.w) // a faulty pane must not overflow
	}
	f.Rows = c.Rows
	return f
}

// tail returns the last n rows: the status line's last row names the keys and matters most.
func tail(rows []draw.Row, n int) []draw.Row { return rows[max(len(rows)-n, 0):] }

// title returns the terminal title, marked while the agent works or a question waits.
func (m *model) title() safeterm.Text {
	state := ""
	switch {
	case m.questions.asks():
		state = "? "
	case m.working():
		state = "● "
	}
	return safeterm.Name(state + "adze " + filepath.Base(m.info.Cwd))
}

// panes draws everything above the status line and sets the cursor.
func (m *model) panes(c *ui.Canvas, l Layout, f *screen.Frame) {
	c.Put(l.Transcript, m.transcript.Render(l.Transcript.W, l.Transcript.H))
	c.Divide(l.Divide)
	m.lower(c, l, f)
}

// lower draws the panes beside and below the conversation.
func (m *model) lower(c *ui.Canvas, l Layout, f *screen.Frame) {
	c.Put(l.WorkPane, m.workPane.render(l.WorkPane.W, l.WorkPane.H))
	c.Put(l.Menu, m.prompt.Menu.Render(l.Menu.W, l.Menu.H))
	at, rows, x, y := l.Dialog, []draw.Row(nil), -1, -1
	if l.Dialog.H > 0 {
		rows, x, y = m.questions.render(at)
		c.Put(at, rows)
	}
	if l.Prompt.H > 0 {
		at = l.Prompt
		rows, x, y = m.prompt.Render(at.W, at.H)
		c.Put(at, rows)
	}
	if l.FullPane.H > 0 {
		over, ox, oy := m.over(l.FullPane)
		c.Put(l.FullPane, over)
		if !m.scope().answers() {
			at, x, y = l.FullPane, ox, oy
		}
	}
	if y >= 0 && y < at.H {
		f.Cursor, f.CursorX, f.CursorY = true, at.X+min(x, at.W-1), at.Y+y
	}
}

// over draws the pane that replaces the conversation.
func (m *model) over(r ui.Rect) (rows []draw.Row, x, y int) {
	if m.picker.Open {
		return m.picker.Render(r.W, r.H)
	}
	return m.view.Render(r.W, r.H), -1, -1
}

// moment returns the current state for the status line.
func (m *model) moment() pane.Moment {
	at := m.turns.moment()
	at.Message = m.statusLine.text
	if s := m.scope(); at.Running && !at.Stopping && s != inPicker && s != inView && !m.questions.keysToMessage {
		at.Hints = append(at.Hints, m.keys.label(stop)+": stop")
	}
	if m.conversation.whole {
		at.Hints = append(at.Hints, m.keys.label(expand)+": back")
	}
	if away, news := m.transcript.AboveEnd(); away {
		hint := m.keys.hint(toBottom) + ": latest"
		if news {
			hint = "new below · " + hint
		}
		at.Hints = append(at.Hints, hint)
	}
	switch {
	case m.help.pane.Open:
		at.Hints = []string{m.keys.label(closeHelp) + ": close"}
	case m.scope() == inPicker:
		at.Hints = append(at.Hints, m.lists.hints()...)
	case m.first.shown():
		at.Hints = m.first.hints()
	case m.scope() == inView:
		at.Hints = append(at.Hints, m.sheets.hints()...)
	case m.prompt.Menu.Choosable() == "":
		at.Hints = append(at.Hints, m.keys.label(takeChoice)+": complete")
	default:
		at.Hints = append(at.Hints, m.keys.label(showHelp)+": keys")
	}
	return at
}

// drawFirst draws the setup screen above the prompt. A list and the key field take all rows.
func (m *model) drawFirst(c *ui.Canvas, l Layout, f *screen.Frame) {
	at, show := ui.NewRect(0, 0, m.w, l.Status.Y), m.picker.Render
	switch m.scope() {
	case inKey:
		show = m.first.screen.Render
	case inFirst:
		rows, _, _ := m.first.screen.Render(m.w, l.Prompt.Y)
		c.Put(ui.NewRect(0, 0, m.w, l.Prompt.Y), rows)
		at, show = l.Prompt, m.prompt.Render
	}
	rows, x, y := show(at.W, at.H)
	c.Put(at, rows)
	f.Cursor, f.CursorX, f.CursorY = true, min(x, m.w-1), at.Y+y
}

// noticed adds the startup notices to a resumed conversation. Otherwise the welcome shows them.
func (m *model) noticed() {
	if m.transcript.Len() == 0 {
		return
	}
	for _, text := range m.info.Notices {
		m.apply(session.Notice{Text: text})
	}
	m.info.Notices = nil
}

// Frame returns the next frame. Inline, it includes rows that became final.
func (m *model) Frame() screen.Frame {
	if !m.conversation.inline {
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

// needsScreen reports whether a pane is open that the inline region does not show.
func (m *model) needsScreen() bool {
	return m.conversation.whole || m.help.pane.Open || m.picker.Open || m.view.Open() || m.first.shown()
}

// settled returns rows that became final, for the terminal's scrollback.
func (m *model) settled() []draw.Row {
	if m.w <= 0 || m.h <= 0 || m.first.shown() || m.starting != nil {
		return nil
	}
	return m.conversation.settled(m.w)
}

// lastWords returns all remaining rows for the scrollback when the interface ends.
func (m *model) lastWords() []draw.Row {
	if !m.conversation.inline || m.w <= 0 || m.starting != nil {
		return nil
	}
	return append(m.settled(), m.conversation.write(m.transcript.Len(), m.w)...)
}

// region draws the rows that still change, for the inline interface.
func (m *model) region() screen.Frame {
	f := screen.Frame{W: m.w, H: m.h, Fresh: m.window.redrawn, Title: m.title()}
	if m.w <= 0 || m.h <= 0 {
		return f
	}
	running := m.transcript.Tail(m.conversation.written, m.w, m.h)
	want, status := m.wants()
	l := Stack(m.w, m.h, want, len(running))
	c := ui.Canvas{Rows: make([]draw.Row, l.Status.Y+l.Status.H), Theme: m.draw.Theme}
	if l.TooSmall {
		c.Put(ui.NewRect(0, 0, m.w, l.Status.Y), tooSmall(m.draw.Theme))
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

func tooSmall(t *draw.Theme) []draw.Row {
	return []draw.Row{
		t.Line(draw.Warn, safeterm.Fixed("This window is too small.")),
		t.Line(draw.Plain, safeterm.Name(plural.Of(minWidth, "column")+" and "+plural.Of(minHeight, "row")+" are needed.")),
		t.Line(draw.Plain, safeterm.Fixed("Make it larger; nothing is lost.")),
	}
}
