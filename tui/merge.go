package tui

import (
	"cmp"
	"context"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/session/api"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/ui"
)

// merge merges the branch of a session's own work tree into the main checkout.
type merge struct {
	host
	ports  *api.Ports
	picker *list.List
	begin  func(job) tea.Cmd
	show   func(session.Event) tea.Cmd // in the conversation
	shut   func()                      // closes the pane above the conversation
	busy   bool
}

func (g *merge) can() string {
	return cmp.Or(ui.ReasonIf(g.ports.MergePlan == nil, "this session runs no commands"), busy(g), ui.ReasonIf(g.busy, "one moment: looking at the branches"))
}

func (g *merge) propose() tea.Cmd {
	if why := g.can(); why != "" {
		g.showMessage(why)
		return nil
	}
	g.busy = true
	g.showMessage("looking at the branches…")
	ask := g.ports.MergePlan
	return async.Try(func() (api.Merge, error) { return ask(context.Background()) }, g.offer)
}

// offer shows the plan; nothing changes before the user confirms it.
func (g *merge) offer(plan api.Merge, err error) tea.Cmd {
	g.busy = false
	g.showMessage("")
	if err != nil {
		g.shut()
		g.show(session.Notice{Text: err.Error()})
		return nil
	}
	g.picker.Ask(oneRow(plan.Summary), []list.Choice{{ID: "merge", Label: "merge " + plural.Of(len(plan.Files), "file"), Note: "with your git, its hooks and signatures"},
		{ID: "no", Label: "change nothing"}}, func(c list.Choice) tea.Cmd {
		return g.begin(job{run: g.ports.Merge})
	})
	g.picker.PeekWith("each file", func(context.Context, string) (out []draw.Span, _ error) {
		for _, f := range plan.Files {
			out = append(out, draw.Span{Text: safeterm.Name(f)})
		}
		return out, nil
	})
	return nil
}

func (g *merge) commands() []command {
	return []command{{name: "merge", help: "merge the branch of this session's work tree into the main checkout, after a plan", can: g.can, run: noArgs(g.propose)}}
}
