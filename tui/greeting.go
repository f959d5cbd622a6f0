package tui

import (
	"slices"
	"strings"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/pane"
)

// greeting draws an empty session.
type greeting struct {
	host
	info  *Info
	ports *api.Ports
}

// welcome returns the rows for an empty session: the folder, notices, the permissions, and the keys
// for stop and help.
func (g *greeting) welcome(t *draw.Theme, w int) []draw.Row {
	where := strings.Join(slices.DeleteFunc(append([]string{g.info.Folder, g.info.Branch}, g.info.Instructions...), func(s string) bool { return s == "" }), " · ")
	rows := []draw.Row{t.Pen().Fixed(draw.Heading, "adze").Put(draw.Dim, safeterm.Name(" "+g.info.Version+"  ")).Put(draw.Plain, safeterm.Name(where)).Done().Fit(w)}
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
	if g.info.Mode != "" {
		may := g.info.Mode
		if brief := g.brief(); brief != "" {
			may += ": " + brief
		}
		if walls := pane.Sandboxed(g.info.Sandbox); walls != "" {
			may += " · " + walls
		}
		line(draw.Dim, safeterm.Name(may+" · "+g.label(chooseMode)+" changes it"))
	}
	line(draw.Dim, safeterm.Name(g.label(stop)+" stops the agent; /undo takes back what it did."))
	line(draw.Dim, safeterm.Name(g.label(showHelp)+" all keys · / commands · @ names a file · ! runs a command"))
	return rows
}

// brief returns the current mode's description.
func (g *greeting) brief() string {
	for _, m := range g.ports.Modes {
		if m.Name == g.info.Mode {
			return m.Means
		}
	}
	return ""
}
