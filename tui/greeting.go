package tui

import (
	"strings"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// greeting is what an empty session shows.
type greeting struct {
	host
	info *Info
}

// welcomeColumn is where facts begin.
const welcomeColumn = 10

// welcome is what an empty session shows: where one is, what the agent was told, and what to do.
func (g *greeting) welcome(t *draw.Theme, w int) []draw.Row {
	rows := []draw.Row{t.Pen().Fixed(draw.Heading, "adze").Put(draw.Dim, safeterm.Name(" "+g.info.Version)).Done()}
	fact := func(name, value string) {
		if value != "" {
			rows = append(rows, t.Pen().Put(draw.Dim, safeterm.Name(name)).Pad(welcomeColumn).Put(draw.Plain, safeterm.Name(value)).Done().Fit(w))
		}
	}
	fact("folder", g.info.Cwd)
	fact("model", g.info.Model)
	fact("mode", g.info.Mode)
	fact("sandbox", g.info.Sandbox)
	fact("follows", strings.Join(g.info.Instructions, ", "))
	line := func(s draw.Style, text safeterm.Text) {
		rows = t.Wrap(rows, w, draw.Margins{}, draw.Span{Style: s, Text: text})
	}
	for i, n := range g.info.Notices {
		if i == 0 {
			rows = append(rows, draw.Row{})
		}
		line(draw.Warn, safeterm.Clean(n))
	}
	rows = append(rows, draw.Row{})
	for _, tip := range g.tips() {
		line(draw.Dim, safeterm.Name(tip))
	}
	return rows
}

// tips are what a user cannot guess. They stay the same: who looks for one finds it where it was.
func (g *greeting) tips() []string {
	return []string{
		"Say what you want done, such as: find out why a test fails",
		"@ names a file, / a command, ! runs one of your own",
		g.label(showHelp) + " lists all keys.",
	}
}
