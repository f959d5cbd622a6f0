package tui

import (
	"adze/internal/safeterm"
	"adze/tui/draw"
)

// welcome is what an empty session shows: where one is and what to do.
func (m *model) welcome(t *draw.Theme, w int) []draw.Row {
	rows := []draw.Row{{}, t.Pen().Fixed(draw.Heading, "adze").Put(draw.Dim, safeterm.Name(" "+m.info.Version)).Done(), {}}
	fact := func(name, value string) {
		if value != "" {
			rows = append(rows, t.Pen().Put(draw.Dim, safeterm.Name(name)).Pad(10).Put(draw.Plain, safeterm.Name(value)).Done().Fit(w))
		}
	}
	fact("folder", m.info.Cwd)
	fact("model", m.info.Model)
	fact("mode", m.info.Mode)
	fact("sandbox", m.info.Sandbox)
	fact("session", m.info.Session)
	line := func(s draw.Style, text safeterm.Text) {
		rows = t.Wrap(rows, w, draw.Margins{}, draw.Span{Style: s, Text: text})
	}
	for _, n := range m.info.Notices {
		rows = append(rows, draw.Row{})
		line(draw.Warn, safeterm.Clean(n))
	}
	rows = append(rows, draw.Row{})
	line(draw.Plain, safeterm.Fixed("Say what you want done and press enter, for example:"))
	line(draw.Accent, safeterm.Fixed("  find out why the tests fail and fix it"))
	rows = append(rows, draw.Row{})
	line(draw.Dim, safeterm.Name(m.keys.label(showHelp)+" lists all keys."))
	return rows
}
