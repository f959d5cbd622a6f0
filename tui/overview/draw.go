package overview

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/ui"
)

// wide is the width in columns from which a row shows the session's activity, and broad the width
// from which it also shows the model.
const (
	wide  = 60
	broad = 100
)

// Frame draws the screen.
func (m *model) Frame() frame {
	f := frame{W: m.w, H: m.h, Title: m.title()}
	if m.w < 20 || m.h < 5 {
		f.Rows = []draw.Row{m.Theme.Line(draw.Plain, safeterm.Fixed("too small")).Fit(m.w)}
		return f
	}
	rows := []draw.Row{m.head().Fit(m.w)}
	foot := m.foot()
	peek := m.peekRows(min(m.h/2, m.h-len(foot)-4))
	room := m.h - len(rows) - len(peek) - len(foot)
	if m.help {
		rows = append(rows, padTo(m.helpRows(), room)...)
	} else {
		rows = append(rows, padTo(m.list(room), room)...)
	}
	rows = append(rows, peek...)
	f.CursorY = len(rows) + 1
	rows = append(rows, foot...)
	for i, r := range rows {
		rows[i] = r.Fit(m.w)
	}
	f.Rows = rows
	if e := m.text(); e != nil {
		f.Cursor, f.CursorX = true, m.cursor
	}
	return f
}

// marked returns the selected session.
func (m *model) marked() (Row, bool) {
	i := slices.IndexFunc(m.rows, func(r Row) bool { return r.ID == m.selectedID })
	if i < 0 {
		return Row{}, false
	}
	return m.rows[i], true
}

func (m *model) title() safeterm.Text {
	if n := m.waiting(); n > 0 {
		return safeterm.Name(fmt.Sprintf("(%d) adze sessions", n))
	}
	return safeterm.Name("adze sessions")
}

func padTo(rows []draw.Row, h int) []draw.Row {
	rows = rows[:min(len(rows), max(h, 0))]
	for len(rows) < h {
		rows = append(rows, draw.Row{})
	}
	return rows
}

// head draws the title and the number of waiting sessions.
func (m *model) head() draw.Row {
	p := m.Theme.Pen().Fixed(draw.Bold, "Sessions")
	if n := m.waiting(); n > 0 {
		p.Fixed(draw.Warn, fmt.Sprintf("  %d waiting for you", n))
	}
	if m.filter.Text != "" && m.focus != onFilter {
		p.Fixed(draw.Dim, "  filter: ").Put(draw.Plain, safeterm.Name(m.filter.Text))
	}
	return p.Done()
}

// line is a row of the list: a session or a heading. It is drawn only if visible.
type line struct {
	session *Row   // nil for a heading
	group   string // heading text
	urgent  bool
}

func (m *model) draw(l line) draw.Row {
	switch {
	case l.session != nil:
		return m.row(*l.session)
	case l.group == "":
		return m.Theme.Pen().Pad(2).Fixed(draw.Dim, "more below").Done()
	}
	style := draw.Dim
	if l.urgent {
		style = draw.Warn
	}
	return m.Theme.Pen().Put(style, safeterm.Name(l.group)).Fixed(draw.Plain, " ").Rule(draw.Border, m.w).Done()
}

// list draws the sessions around the selected one.
func (m *model) list(h int) []draw.Row {
	rows := m.shown()
	if len(rows) == 0 {
		text := "no session yet; press n and say what to do"
		switch {
		case m.looking && len(m.rows) == 0:
			text = "looking…"
		case m.filter.Text != "":
			text = "no session is like that"
		}
		return []draw.Row{{}, m.Theme.Pen().Pad(2).Fixed(draw.Dim, text).Done()}
	}
	var lines []line
	group, at := "", 0
	for i, r := range rows {
		g := r.State.String()
		if m.folders {
			g = r.Folder
		}
		if g != group || len(lines) == 0 {
			group = g
			lines = append(lines, line{group: cmp.Or(g, "no folder"), urgent: !m.folders && r.State == NeedsYou})
		}
		if r.ID == m.selectedID {
			at = len(lines)
		}
		lines = append(lines, line{session: &rows[i]})
	}
	if m.more {
		lines = append(lines, line{})
	}
	// Show the heading above the first session with it.
	first := at
	if at == 1 {
		first = 0
	}
	m.top = max(min(m.top, first, len(lines)-h), 0)
	if at >= m.top+h {
		m.top = at - h + 1
	}
	var out []draw.Row
	for _, l := range lines[m.top:min(m.top+h, len(lines))] {
		out = append(out, m.draw(l))
	}
	return out
}

// row draws one session. Its columns depend only on the width.
func (m *model) row(r Row) draw.Row {
	p, style := m.Theme.Pen(), draw.Plain
	if r.ID == m.selectedID {
		p.Fixed(draw.Accent, "▸")
		style = draw.Bold
	} else {
		p.Fixed(draw.Plain, " ")
	}
	mark, tint := stateMark(r)
	p.Fixed(tint, mark).Fixed(draw.Plain, " ")
	right := m.right(r)
	room := m.w - 3 - right.Width() - 1
	title := room
	if m.w >= wide {
		title = room * 45 / 100
	}
	t := m.Theme.Pen()
	if r.Pinned {
		t.Fixed(draw.Accent, "★ ")
	}
	t.Put(style, safeterm.Name(nameOf(r)))
	for _, tag := range r.Tags {
		t.Fixed(draw.Plain, " ").Put(draw.Dim, safeterm.Name("["+tag+"]"))
	}
	p.Row(t.Done().Fit(title)).Pad(3 + title + 1)
	if m.w >= wide {
		p.Row(m.doing(r).Fit(room - title - 1)).Pad(m.w - right.Width())
	}
	return p.Row(right).Done()
}

func nameOf(r Row) string {
	if r.Title == "" {
		return "nothing was asked yet"
	}
	return r.Title
}

// doing draws a session's activity and its folder.
func (m *model) doing(r Row) draw.Row {
	p := m.Theme.Pen()
	if r.Doing != "" {
		style := draw.Dim
		if r.State == NeedsYou {
			style = draw.Plain
		}
		p.Put(style, safeterm.Name(ui.Shorten(r.Doing)))
	}
	if !m.folders && r.Folder != "" && r.Folder != m.Folder {
		if r.Doing != "" {
			p.Fixed(draw.Dim, " · ")
		}
		p.Put(draw.Dim, safeterm.Name(filepath.Base(r.Folder)))
	}
	return p.Done()
}

// right draws the columns at the right edge: model, cost and age.
func (m *model) right(r Row) draw.Row {
	p := m.Theme.Pen()
	if m.w >= broad {
		name := r.Model[strings.LastIndexByte(r.Model, '/')+1:] // without the vendor
		p.Row(m.Theme.Line(draw.Dim, safeterm.Name(name)).Fit(20)).Pad(21)
	}
	if m.w >= wide {
		cost := ""
		if r.Cost > 0 {
			cost = fmt.Sprintf("$%.2f", r.Cost)
		}
		p.Fixed(draw.Dim, fmt.Sprintf("%7s ", cost))
	}
	return p.Put(draw.Dim, safeterm.Name(fmt.Sprintf("%10s", ui.Age(m.Now(), r.Updated)))).Done()
}

func stateMark(r Row) (string, draw.Style) {
	switch {
	case r.State == NeedsYou:
		return "?", draw.Warn
	case r.State == Working:
		return "●", draw.Accent
	case r.State == ToReview:
		return "✓", draw.Good
	case r.Live:
		return "○", draw.Dim // open in a process and waiting for a prompt
	}
	return " ", draw.Plain
}

// peekRows draws the preview of the selected session.
func (m *model) peekRows(h int) []draw.Row {
	if m.peeked == "" || h < 3 || m.help {
		return nil
	}
	rows := []draw.Row{ui.Title(m.Theme, m.w, "a look into it")}
	text := func(style draw.Style, s string) {
		if s = strings.TrimSpace(s); s != "" {
			rows = m.Theme.Wrap(rows, m.w, draw.Margins{}, draw.Span{Style: style, Text: safeterm.Clean(s)})
		}
	}
	switch {
	case m.peekErr != "":
		text(draw.Bad, m.peekErr)
	case m.peek == (Peek{}):
		text(draw.Dim, "looking…")
	}
	var asks []draw.Row
	if q := m.peek.Question; q != nil {
		said := rows
		rows = nil
		for _, l := range q.Lines {
			text(draw.Plain, l)
		}
		for i, c := range q.Choices {
			text(draw.Plain, fmt.Sprintf("%d  %s", i+1, c))
		}
		asks, rows = rows, said
	}
	text(draw.Dim, m.peek.Change)
	if room := h - len(rows) - len(asks); room > 0 {
		before := len(rows)
		text(draw.Plain, m.peek.Said)
		if over := len(rows) - before - room; over > 0 { // keep the last words
			rows = append(rows[:before:before], rows[before+over:]...)
		}
	}
	rows = append(rows, asks...)
	return rows[:min(len(rows), h)]
}

// foot draws a rule, the input line or last message, and the keys.
func (m *model) foot() []draw.Row {
	rule := m.Theme.Pen().Rule(draw.Border, m.w).Done()
	return []draw.Row{rule, m.written(), m.keys()}
}

// written draws the input line.
func (m *model) written() draw.Row {
	labels := map[focus]string{onPrompt: "new: ", onFilter: "filter: ", onName: "name: ", onTag: "tag: ", onReason: "why not: ", onWords: "answer: "}
	e := m.text()
	if e == nil {
		if m.note != "" {
			return m.Theme.Line(draw.Plain, safeterm.Name(m.note))
		}
		return m.Theme.Pen().Fixed(draw.Accent, "❯ ").Fixed(draw.Dim, "n: begin a session in the background").Done()
	}
	label := m.Theme.Pen().Fixed(draw.Accent, labels[m.focus]).Done()
	// Scroll the line to keep the cursor visible.
	room := max(m.w-label.Width()-1, 1)
	from := 0
	for from < e.Cursor && m.Theme.Line(draw.Plain, shownText(e.Text[from:e.Cursor])).Width() >= room {
		from += len(firstOf(e.Text[from:]))
	}
	m.cursor = min(label.Width()+m.Theme.Line(draw.Plain, shownText(e.Text[from:e.Cursor])).Width(), m.w-1)
	return m.Theme.Pen().Row(label).Put(draw.Plain, shownText(e.Text[from:])).Done()
}

func shownText(s string) safeterm.Text { return safeterm.Name(s) }

func firstOf(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

func (m *model) keys() draw.Row {
	var words []string
	switch {
	case m.focus == onRows:
		r, _ := m.marked()
		if q := m.peek.Question; m.peeked != "" && m.peeked == m.selectedID && q != nil {
			words = []string{"y: allow once", "d: deny", "e: deny and say why"}
			if len(q.Choices) > 0 {
				words = []string{"1–" + fmt.Sprint(len(q.Choices)) + ": choose", "w: say it in words"}
			}
		}
		if r.State == ToReview {
			words = append(words, "v: review")
		}
		words = append(words, "enter: open", "space: look", "n: new", "/: filter", "F1: keys")
	case m.focus == onFilter:
		words = []string{"enter: keep", "esc: all"}
	default:
		words = []string{"enter: done", "esc: back"}
	}
	text := words[0]
	for _, w := range words[1:] {
		if m.Theme.Line(draw.Dim, safeterm.Name(text+" · "+w)).Width() > m.w {
			break
		}
		text += " · " + w
	}
	return m.Theme.Line(draw.Dim, safeterm.Name(text))
}

func (m *model) helpRows() []draw.Row {
	rows := []draw.Row{{}}
	for _, k := range [][2]string{
		{"enter, →", "open the session; /overview in it comes back"},
		{"space", "look into it: its last words, its change, its question"},
		{"y, d, e", "allow what it asks once; deny it; deny it and say why"},
		{"1–9, w", "answer a question of the model by a choice, or in words"},
		{"n", "begin a session in the background"},
		{"s", "stop it"},
		{"r, t, p", "rename it; tag it (-TAG takes a tag away); pin it"},
		{"v", "review it: its changes by hunk, to keep, revert, commit"},
		{"V", "it is reviewed"},
		{"g", "group by folder, or by state"},
		{"/", "filter"},
		{"F5", "look again"},
		{"esc, q", "leave"},
	} {
		rows = append(rows, m.Theme.Pen().Pad(2).Put(draw.Key, safeterm.Name(k[0])).Pad(14).Put(draw.Plain, safeterm.Name(k[1])).Done())
	}
	return append(rows, draw.Row{}, m.Theme.Pen().Pad(2).Fixed(draw.Dim, plural.Of(len(m.rows), "session")+"; any key goes back").Done())
}
