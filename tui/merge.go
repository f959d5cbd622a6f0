package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/list"
)

// merge brings the branch of a session that has a work tree of its own into the main checkout.
type merge struct {
	host
	ports  *api.Ports
	picker *list.List
	begin  func(job) tea.Cmd
	show   func(session.Event) tea.Cmd // in the conversation
	shut   func()                      // closes the pane that hides it
	busy   bool
}

// mergePlan is what a merge comes to; nothing is done before the user has seen it.
type mergePlan struct {
	plan api.Merge
	err  error
}

func (g *merge) update(msg tea.Msg) (handled bool, cmd tea.Cmd) {
	if p, ok := msg.(mergePlan); ok {
		g.busy = false
		g.say("")
		g.offer(p)
		return true, nil
	}
	return false, nil
}

func (g *merge) can() string {
	switch {
	case g.ports.MergePlan == nil:
		return "this session runs no commands"
	case g.working():
		return "busy: stop the agent first, or wait"
	case g.busy:
		return "one moment: looking at the branches"
	}
	return ""
}

func (g *merge) propose() tea.Cmd {
	if why := g.can(); why != "" {
		g.say(why)
		return nil
	}
	g.busy = true
	g.say("looking at the branches…")
	ask := g.ports.MergePlan
	return func() tea.Msg {
		plan, err := ask(context.Background())
		return mergePlan{plan, err}
	}
}

// offer puts the plan to the user.
func (g *merge) offer(p mergePlan) {
	if p.err != nil {
		g.shut()
		g.show(session.Notice{Text: p.err.Error()})
		return
	}
	g.picker.Begin(oneRow(p.plan.Says), []list.Choice{{ID: "merge", Label: "merge " + plural.Of(len(p.plan.Files), "file"), Note: "with your git, its hooks and signatures"},
		{ID: "no", Label: "change nothing"}}, func(c list.Choice) tea.Cmd {
		if c.ID == "no" {
			return nil
		}
		return g.begin(job{run: g.ports.Merge})
	})
	g.picker.PeekWith("each file", func(context.Context, string) (out []draw.Span, _ error) {
		for _, f := range p.plan.Files {
			out = append(out, draw.Span{Text: safeterm.Name(f)})
		}
		return out, nil
	})
}

func (g *merge) commands() []command {
	return []command{{name: "merge", help: "merge the branch of this session's work tree into the main checkout, after a plan", can: g.can, do: noArgs(g.propose)}}
}
