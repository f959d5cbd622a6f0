package tui

import (
	"path/filepath"

	"adze/internal/safeterm"
	"adze/tui/draw"
	"adze/tui/screen"
)

// frame draws the whole screen.
func (m *model) frame() screen.Frame {
	f := screen.Frame{W: m.w, H: m.h, Fresh: m.redrawn, Mouse: m.mouse, Title: m.title()}
	if m.w <= 0 || m.h <= 0 {
		return f
	}
	l := Arrange(m.w, m.h, m.wants())
	c := canvas{rows: make([]draw.Row, m.h), theme: m.draw.theme}
	switch {
	case l.TooSmall:
		c.put(Rect{0, 0, m.w, m.h}, m.tooSmall())
	case m.help.open:
		rows, x, y := m.help.Render(m.draw.theme, m.helpGroups(), m.w, m.h-1)
		c.put(Rect{0, 0, m.w, m.h - 1}, rows)
		f.Cursor, f.CursorX, f.CursorY = true, min(x, m.w-1), y
	case m.first != nil:
		m.drawFirst(&c, &f)
	default:
		m.panes(&c, l, &f)
	}
	c.put(l.Status, []draw.Row{m.status.Render(m.w, m.moment())})
	for i, r := range c.rows {
		c.rows[i] = r.Fit(m.w) // a pane that errs must not spill
	}
	f.Rows = c.rows
	return f
}

// title tells in the terminal's tab what the person may be waiting for.
func (m *model) title() safeterm.Text {
	state := ""
	switch {
	case m.dialog.open():
		state = "? "
	case m.turn.running:
		state = "● "
	}
	return safeterm.Name(state + "adze " + filepath.Base(m.info.Cwd))
}

// panes draws what is between the top and the status line, and finds the cursor.
func (m *model) panes(c *canvas, l Layout, f *screen.Frame) {
	c.put(l.Transcript, m.transcript.Render(l.Transcript.W, l.Transcript.H))
	c.divide(l.Divide)
	m.lower(c, l, f)
}

// lower draws what is beside and below the conversation.
func (m *model) lower(c *canvas, l Layout, f *screen.Frame) {
	c.put(l.Activity, m.activity.Render(l.Activity.W, l.Activity.H))
	c.put(l.Todos, m.todos.Render(l.Todos.W, l.Todos.H))
	c.put(l.Menu, m.prompt.menu.Render(l.Menu.W, l.Menu.H))
	at, rows, x, y := l.Dialog, []draw.Row(nil), -1, -1
	if l.Dialog.H > 0 {
		rows, x, y = m.dialog.Render(l.Dialog.W, l.Dialog.H)
	} else {
		at = l.Prompt
		rows, x, y = m.prompt.Render(at.W, at.H)
	}
	c.put(at, rows)
	if l.Over.H > 0 {
		over, ox, oy := m.over(l.Over)
		c.put(l.Over, over)
		if l.Dialog.H == 0 {
			at, x, y = l.Over, ox, oy
		}
	}
	if y >= 0 && y < at.H {
		f.Cursor, f.CursorX, f.CursorY = true, at.X+min(x, at.W-1), at.Y+y
	}
}

// over draws what is in place of the conversation.
func (m *model) over(r Rect) (rows []draw.Row, x, y int) {
	if m.picker.open {
		return m.picker.Render(r.W, r.H)
	}
	return m.view.Render(r.W, r.H), -1, -1
}

func (m *model) tooSmall() []draw.Row {
	t := m.draw.theme
	return []draw.Row{
		t.Line(draw.Warn, safeterm.Fixed("This window is too small.")),
		t.Line(draw.Plain, safeterm.Name(count(minWidth, "column")+" and "+count(minHeight, "row")+" are needed.")),
		t.Line(draw.Plain, safeterm.Fixed("Make it larger; nothing is lost.")),
	}
}

// moment is what the status line needs to know.
func (m *model) moment() moment {
	at := moment{running: m.turn.running, stopping: m.turn.stopping || m.leaving, say: m.said}
	at.elapsed, at.queued = m.now().Sub(m.turn.since), m.prompt.queued()
	if s := m.scope(); at.running && !at.stopping && s != inPicker && s != inView {
		at.hints = append(at.hints, m.keys.label(stop)+" stops")
	}
	if m.inline.whole {
		at.hints = append(at.hints, m.keys.label(expand)+" back")
	}
	if away, news := m.transcript.below(); away {
		hint := m.keys.hint(m, toBottom) + " to the end"
		if news {
			hint = "new below, " + hint
		}
		at.hints = append(at.hints, hint)
	}
	switch {
	case m.help.open:
		at.hints = []string{m.keys.label(closeHelp) + " closes"}
	case m.scope() == inPicker:
		at.hints = append(at.hints, m.hintsOfPicker()...)
	case m.first != nil:
		at.hints = m.hintsOfFirst()
	case m.scope() == inView:
		at.hints = append(at.hints, m.hintsOfView()...)
	case m.prompt.menu.choosable() == "":
		at.hints = append(at.hints, m.keys.label(takeChoice)+" completes")
	default:
		at.hints = append(at.hints, m.keys.label(showHelp)+" keys")
	}
	return at
}
