package tui

import (
	"strings"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

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

// tips are what a person cannot guess. They stay the same: who looks for one finds it where it was.
func (m *model) tips() []string {
	return []string{
		"Say what you want done, such as: find out why a test fails",
		"@ names a file, / a command, ! runs one of your own",
		m.keys.label(showHelp) + " lists all keys.",
	}
}
