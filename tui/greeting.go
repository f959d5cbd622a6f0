package tui

import (
	"cmp"
	"path/filepath"
	"strings"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/pane"
	"adze/tui/ui"
)

// greeting is what an empty session shows.
type greeting struct {
	host
	info   *Info
	ports  *api.Ports
	recent func() []api.SessionHead // of this folder
}

// welcomeColumn is where facts begin.
const welcomeColumn = 14

// welcome is what an empty session shows: where one is, what the agent was told, the last sessions,
// and what to do.
func (g *greeting) welcome(t *draw.Theme, w int) []draw.Row {
	rows := []draw.Row{t.Pen().Fixed(draw.Heading, "adze").Put(draw.Dim, safeterm.Name(" "+g.info.Version)).Done()}
	fact := func(name, value, note string) {
		if value == "" {
			return
		}
		pen := t.Pen().Put(draw.Dim, safeterm.Name(name)).Fixed(draw.Plain, " ").Pad(welcomeColumn).Put(draw.Plain, safeterm.Name(value))
		if note != "" {
			pen.Put(draw.Dim, safeterm.Name(" · "+note))
		}
		rows = append(rows, pen.Done().Fit(w))
	}
	fact("folder", g.folder(), g.info.Branch)
	fact("model", g.info.Model, "")
	fact("mode", g.info.Mode, g.brief())
	fact("commands", pane.Sandboxed(g.info.Sandbox), "")
	fact("instructions", strings.Join(g.info.Instructions, ", "), "")
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
	for i, h := range g.recent() {
		if i == 0 {
			line(draw.Dim, safeterm.Fixed("your last sessions here"))
		}
		pen := t.Pen().Fixed(draw.Plain, "  ").Put(draw.Key, safeterm.Name(g.labelOf(recentID(i)))).Fixed(draw.Plain, " ").Pad(welcomeColumn - 4)
		pen.Put(draw.Plain, safeterm.Name(oneRow(ui.Shorten(cmp.Or(h.Title, h.ID))))).Put(draw.Dim, safeterm.Name(" · "+ui.Age(g.clock(), h.Updated)))
		rows = append(rows, pen.Done().Fit(w))
	}
	if len(g.recent()) > 0 {
		rows = append(rows, draw.Row{})
	}
	for _, tip := range g.tips() {
		line(draw.Dim, safeterm.Name(tip))
	}
	return rows
}

// folder is the workspace, as a shell's prompt shows it.
func (g *greeting) folder() string {
	below, ok := strings.CutPrefix(g.info.Cwd, g.info.Home)
	if g.info.Home == "" || !ok || below != "" && !strings.HasPrefix(filepath.ToSlash(below), "/") {
		return g.info.Cwd
	}
	return "~" + below
}

// brief says what the mode means.
func (g *greeting) brief() string {
	for _, m := range g.ports.Modes {
		if m.Name == g.info.Mode {
			return m.Means
		}
	}
	return ""
}

// tips are three things to try, and where the rest is. They stay the same: who looks for one finds
// it where it was.
func (g *greeting) tips() []string {
	tips := []string{
		"Try: find out why a test fails",
		"     /plan to see a plan before anything changes",
		"     !git status to run a command; the agent sees its output",
		"@ names a file, / a command; " + g.label(showHelp) + " lists all keys.",
	}
	if len(g.recent()) == 0 {
		tips = append(tips, "/inline keeps the conversation in the terminal's scrollback.")
	}
	return tips
}
