package tui

import (
	"strings"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// help is the list of all keys, over everything but the status line.
type help struct {
	open bool
	top  int
}

// Render lists the key table. A key that does nothing now says why.
func (h *help) Render(m *model, w, height int) []draw.Row {
	all := h.rows(m, w)
	h.top = min(h.top, max(len(all)-height, 0))
	return all[h.top:min(h.top+height, len(all))]
}

func (h *help) rows(m *model, w int) []draw.Row {
	var rows []draw.Row
	for _, s := range []struct {
		title string
		scope scope
		part  part
	}{
		{"keys", inPrompt, general}, {"panes", inPrompt, panes}, {"in a permission dialog", inDialog, general},
		{"in a pane", inView, general}, {"in a list to choose from", inPicker, general},
		{"while completions are shown", inPrompt, completing}, {"editing", inPrompt, editing},
	} {
		rows = append(rows, title(m.draw.theme, w, s.title))
		for _, b := range m.keys.table {
			if b.scope == s.scope && b.part == s.part {
				rows = h.row(rows, m, b, w)
			}
		}
	}
	return h.commands(rows, m, w)
}

// commands lists what a prompt with a slash does.
func (h *help) commands(rows []draw.Row, m *model, w int) []draw.Row {
	rows = append(rows, title(m.draw.theme, w, "commands, written as a message"))
	for _, c := range commandChoices(m, "") {
		rows = h.line(rows, m, c.label, draw.Span{Style: draw.Plain, Text: safeterm.Name(c.note)}, w)
	}
	rows = h.line(rows, m, "!command", draw.Span{Style: draw.Plain, Text: safeterm.Fixed("run a command yourself; the agent sees what it printed")}, w)
	return h.line(rows, m, "@file", draw.Span{Style: draw.Plain, Text: safeterm.Fixed("complete the name of a file")}, w)
}

// helpColumn is where the explanations begin.
const helpColumn = 32

func (h *help) row(rows []draw.Row, m *model, b binding, w int) []draw.Row {
	names := strings.Join(b.keys, " ")
	if b.label != "" {
		names = b.label
	}
	text := draw.Span{Style: draw.Plain, Text: safeterm.Name(b.help)}
	reason := b.disabled(m)
	if reason != "" && b.scope == m.under() && b.part != completing {
		text = draw.Span{Style: draw.Dim, Text: safeterm.Name(b.help + " (not now: " + reason + ")")}
	}
	return h.line(rows, m, names, text, w)
}

func (h *help) line(rows []draw.Row, m *model, names string, text draw.Span, w int) []draw.Row {
	t := m.draw.theme
	margins := draw.Margins{
		First: t.Pen().Fixed(draw.Plain, "  ").Put(draw.Key, safeterm.Name(names)).Fixed(draw.Plain, "  ").Pad(helpColumn).Done(),
		Rest:  t.Pen().Pad(helpColumn).Done(),
	}
	return t.Wrap(rows, w, margins, text)
}
