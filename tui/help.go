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
	section := func(text string, s scope, want func(binding) bool) {
		rows = append(rows, title(m.draw.theme, w, text))
		for _, b := range m.keys.table {
			if b.scope == s && want(b) {
				rows = h.row(rows, m, b, w)
			}
		}
	}
	editing := func(b binding) bool { return b.action == editKey }
	section("keys", inPrompt, func(b binding) bool { return !editing(b) })
	section("in a permission dialog", inDialog, func(b binding) bool { return b.can == nil || b.action != send })
	section("editing", inPrompt, editing)
	return rows
}

// helpColumn is where the explanations begin.
const helpColumn = 32

func (h *help) row(rows []draw.Row, m *model, b binding, w int) []draw.Row {
	names := strings.Join(b.keys, " ")
	if b.label != "" {
		names = b.label
	}
	t := m.draw.theme
	margins := draw.Margins{
		First: t.Pen().Fixed(draw.Plain, "  ").Put(draw.Key, safeterm.Name(names)).Fixed(draw.Plain, "  ").Pad(helpColumn).Done(),
		Rest:  t.Pen().Pad(helpColumn).Done(),
	}
	text := []draw.Span{{Style: draw.Plain, Text: safeterm.Name(b.help)}}
	if reason := b.disabled(m); reason != "" && b.scope == m.under() {
		text = []draw.Span{{Style: draw.Dim, Text: safeterm.Name(b.help + " (not now: " + reason + ")")}}
	}
	return t.Wrap(rows, w, margins, text...)
}
