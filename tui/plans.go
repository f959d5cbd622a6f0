package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"adze/internal/stream/ask"
	"adze/session/api"
)

// plans are the plan that waits for the user.
type plans struct {
	host
	ports    *api.Ports
	settings *settings
	begin    func(job) tea.Cmd
}

// decided is what came of the plan that the user looked at.
type decided struct {
	prompt string
	err    error
}

func (p *plans) update(msg tea.Msg) (handled bool, cmd tea.Cmd) {
	if d, ok := msg.(decided); ok {
		return true, p.carryOut(d)
	}
	return false, nil
}

func (p *plans) commands() []command {
	return []command{{name: "plan", help: "plan first: nothing changes until you accept it; shows a waiting plan", can: p.can, do: noArgs(p.show)}}
}

func (p *plans) can() string {
	switch {
	case p.ports.Plan == nil:
		return "this session has no plans"
	case p.working():
		return "busy; /plan when it stops"
	}
	return ""
}

// show puts the plan that waits to the user once more.
func (p *plans) show() tea.Cmd {
	show := p.ports.Plan
	return func() tea.Msg {
		prompt, err := show(context.Background())
		return decided{prompt, err}
	}
}

// carryOut goes on with what the user decided.
func (p *plans) carryOut(d decided) tea.Cmd {
	switch {
	case errors.Is(d.err, ask.ErrClosed):
		p.say("the plan is kept; /plan shows it again")
	case d.err != nil:
		p.say(d.err.Error())
	case d.prompt == "":
		return p.settings.toMode("plan")
	case p.can() == "":
		return p.begin(job{prompt: api.Prompt{Text: d.prompt}})
	}
	return nil
}
