package tui

import (
	"path/filepath"
	"strings"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tui/draw"
	"adze/tui/pane"
	"adze/tui/screen"
	"adze/tui/ui"
)

// frame draws the whole screen.
func (m *model) frame() screen.Frame {
	f := screen.Frame{W: m.w, H: m.h, Fresh: m.redrawn, Mouse: m.mouse, Title: m.title()}
	if m.w <= 0 || m.h <= 0 {
		return f
	}
	want, status := m.wants()
	l := Arrange(m.w, m.h, want)
	c := ui.Canvas{Rows: make([]draw.Row, m.h), Theme: m.draw.Theme}
	switch {
	case l.TooSmall:
		c.Put(ui.At(0, 0, m.w, m.h), m.tooSmall())
	case m.help.Open:
		rows, x, y := m.help.Render(m.draw.Theme, m.helpGroups(), m.w, l.Status.Y)
		c.Put(ui.At(0, 0, m.w, l.Status.Y), rows)
		f.Cursor, f.CursorX, f.CursorY = true, min(x, m.w-1), y
	case m.first != nil:
		m.drawFirst(&c, l.Status.Y, &f)
	default:
		m.panes(&c, l, &f)
	}
	c.Put(l.Status, tail(status, l.Status.H))
	for i, r := range c.Rows {
		c.Rows[i] = r.Fit(m.w) // a pane that errs must not spill
	}
	f.Rows = c.Rows
	return f
}

// tail is the last n rows, of which the very last is most needed: it says what to press.
func tail(rows []draw.Row, n int) []draw.Row { return rows[max(len(rows)-n, 0):] }

// title tells in the terminal's tab what the user may be waiting for.
func (m *model) title() safeterm.Text {
	state := ""
	switch {
	case m.asks():
		state = "? "
	case m.turn.running:
		state = "● "
	}
	return safeterm.Name(state + "adze " + filepath.Base(m.info.Cwd))
}

// panes draws what is between the top and the status line, and finds the cursor.
func (m *model) panes(c *ui.Canvas, l Layout, f *screen.Frame) {
	c.Put(l.Transcript, m.transcript.Render(l.Transcript.W, l.Transcript.H))
	c.Divide(l.Divide)
	m.lower(c, l, f)
}

// lower draws what is beside and below the conversation.
func (m *model) lower(c *ui.Canvas, l Layout, f *screen.Frame) {
	c.Put(l.Activity, m.activity.Render(l.Activity.W, l.Activity.H))
	c.Put(l.Todos, m.todos.Render(l.Todos.W, l.Todos.H))
	c.Put(l.Menu, m.prompt.Menu.Render(l.Menu.W, l.Menu.H))
	at, rows, x, y := l.Dialog, []draw.Row(nil), -1, -1
	if l.Dialog.H > 0 {
		rows, x, y = m.question(l.Dialog)
	} else {
		at = l.Prompt
		rows, x, y = m.prompt.Render(at.W, at.H)
	}
	c.Put(at, rows)
	if l.Over.H > 0 {
		over, ox, oy := m.over(l.Over)
		c.Put(l.Over, over)
		if l.Dialog.H == 0 {
			at, x, y = l.Over, ox, oy
		}
	}
	if y >= 0 && y < at.H {
		f.Cursor, f.CursorX, f.CursorY = true, at.X+min(x, at.W-1), at.Y+y
	}
}

// over draws what is in place of the conversation.
func (m *model) over(r ui.Rect) (rows []draw.Row, x, y int) {
	if m.picker.Open {
		return m.picker.Render(r.W, r.H)
	}
	return m.view.Render(r.W, r.H), -1, -1
}

func (m *model) tooSmall() []draw.Row {
	t := m.draw.Theme
	return []draw.Row{
		t.Line(draw.Warn, safeterm.Fixed("This window is too small.")),
		t.Line(draw.Plain, safeterm.Name(plural.Of(minWidth, "column")+" and "+plural.Of(minHeight, "row")+" are needed.")),
		t.Line(draw.Plain, safeterm.Fixed("Make it larger; nothing is lost.")),
	}
}

// moment is what the status line needs to know.
func (m *model) moment() pane.Moment {
	at := pane.Moment{Running: m.turn.running, Stopping: m.turn.stopping || m.leaving, Say: m.said}
	at.Elapsed, at.Queued = max(m.now().Sub(m.turn.since), 0), m.prompt.Queued()
	if s := m.scope(); at.Running && !at.Stopping && s != inPicker && s != inView {
		at.Hints = append(at.Hints, m.keys.label(stop)+" stops")
	}
	if m.inline.whole {
		at.Hints = append(at.Hints, m.keys.label(expand)+" back")
	}
	if away, news := m.transcript.Below(); away {
		hint := m.keys.hint(m, toBottom) + " to the end"
		if news {
			hint = "new below, " + hint
		}
		at.Hints = append(at.Hints, hint)
	}
	switch {
	case m.help.Open:
		at.Hints = []string{m.keys.label(closeHelp) + " closes"}
	case m.scope() == inPicker:
		at.Hints = append(at.Hints, m.hintsOfPicker()...)
	case m.first != nil:
		at.Hints = m.hintsOfFirst()
	case m.scope() == inView:
		at.Hints = append(at.Hints, m.hintsOfView()...)
	case m.prompt.Menu.Choosable() == "":
		at.Hints = append(at.Hints, m.keys.label(takeChoice)+" completes")
	default:
		at.Hints = append(at.Hints, m.keys.label(showHelp)+" keys")
	}
	return at
}

// hintsOfFirst are what to press on the first screen.
func (m *model) hintsOfFirst() []string {
	if m.first.Asks() {
		return []string{m.keys.labelOf("key.give") + " keeps it", m.keys.labelOf("key.back") + " back"}
	}
	hints := []string{m.keys.labelOf("first.do") + " does it", m.keys.label(lookAgain) + " looks again"}
	if m.first.CanDemo() == "" {
		hints = append(hints, m.keys.labelOf("first.demo")+" demo")
	}
	return append(hints, m.keys.labelOf("first.quit")+" quits", m.keys.label(showHelp)+" keys")
}

// hintsOfPicker are what to press in a list.
func (m *model) hintsOfPicker() []string {
	hints := []string{m.keys.labelOf("list.choose") + " chooses"}
	if m.picker.CanPickCopy() == "" {
		hints = append(hints, m.keys.label(openCopy)+" opens a copy")
	}
	if m.picker.Ended != nil {
		hints = []string{m.keys.labelOf("list.choose") + " shows it"}
		if m.picker.CanPickEnd() == "" {
			hints = append(hints, m.keys.label(endMarked)+" ends it")
		}
	}
	return append(hints, m.keys.labelOf("list.close")+" closes")
}

// hintsOfView are what to press in a pane.
func (m *model) hintsOfView() []string {
	var hints []string
	if canParts(m) == "" {
		hints = append(hints, m.keys.label(nextPart)+" next")
	}
	if looksAtChanges(m) == "" {
		hints = append(hints, m.keys.labelOf("pane.copy-path")+" copies the path", m.keys.labelOf("pane.copy-diff")+" the diff")
	}
	return append(hints, m.keys.label(showHelp)+" keys")
}

// drawFirst draws the screen, or the list that was opened from it.
func (m *model) drawFirst(c *ui.Canvas, h int, f *screen.Frame) {
	all := ui.At(0, 0, m.w, h)
	if !m.picker.Open {
		rows, x, y := m.first.Render(m.info.Version, all.W, all.H)
		c.Put(all, rows)
		f.Cursor, f.CursorX, f.CursorY = y >= 0, min(max(x, 0), m.w-1), max(y, 0)
		return
	}
	rows, x, y := m.picker.Render(all.W, all.H)
	c.Put(all, rows)
	f.Cursor, f.CursorX, f.CursorY = true, min(x, m.w-1), y
}

// welcomeColumn is where facts begin.
const welcomeColumn = 10

// welcome is what an empty session shows: where one is, what the agent was told, and what to do.
func (m *model) welcome(t *draw.Theme, w int) []draw.Row {
	rows := []draw.Row{t.Pen().Fixed(draw.Heading, "adze").Put(draw.Dim, safeterm.Name(" "+m.info.Version)).Done()}
	fact := func(name, value string) {
		if value != "" {
			rows = append(rows, t.Pen().Put(draw.Dim, safeterm.Name(name)).Pad(welcomeColumn).Put(draw.Plain, safeterm.Name(value)).Done().Fit(w))
		}
	}
	fact("folder", m.info.Cwd)
	fact("model", m.info.Model)
	fact("mode", m.info.Mode)
	fact("sandbox", m.info.Sandbox)
	fact("follows", strings.Join(m.info.Instructions, ", "))
	line := func(s draw.Style, text safeterm.Text) {
		rows = t.Wrap(rows, w, draw.Margins{}, draw.Span{Style: s, Text: text})
	}
	for i, n := range m.info.Notices {
		if i == 0 {
			rows = append(rows, draw.Row{})
		}
		line(draw.Warn, safeterm.Clean(n))
	}
	rows = append(rows, draw.Row{})
	for _, tip := range m.tips() {
		line(draw.Dim, safeterm.Name(tip))
	}
	return rows
}

// tips are what a user cannot guess. They stay the same: who looks for one finds it where it was.
func (m *model) tips() []string {
	return []string{
		"Say what you want done, such as: find out why a test fails",
		"@ names a file, / a command, ! runs one of your own",
		m.keys.label(showHelp) + " lists all keys.",
	}
}

// noticed puts what is to be said at the start below a conversation that is there already: the
// welcome, which says it else, is not seen then.
func (m *model) noticed() {
	if m.transcript.Len() == 0 {
		return
	}
	for _, text := range m.info.Notices {
		m.apply(session.Notice{Text: text})
	}
	m.info.Notices = nil
}
