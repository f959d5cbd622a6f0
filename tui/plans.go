package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"adze/internal/stream/ask"
	"adze/session/api"
	"adze/tui/async"
)

// plans shows a waiting plan.
type plans struct {
	host
	ports    *api.Ports
	settings *settings
	begin    func(job) tea.Cmd
}

func (p *plans) commands() []command {
	return []command{{name: "plan", args: "[message]", help: "plan first: nothing changes until you accept it; shows a waiting plan", lines: true, can: p.can, run: p.show}}
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

// show asks the user about the waiting plan again, or sends a message in the mode plan.
func (p *plans) show(message string) tea.Cmd {
	if message != "" {
		if p.settings.toMode("plan"); p.settings.info.Mode != "plan" {
			return nil
		}
		return p.begin(job{prompt: api.Prompt{Text: message}})
	}
	show := p.ports.Plan
	return async.Try(func() (string, error) { return show(context.Background()) }, p.carryOut)
}

// carryOut applies the user's decision.
func (p *plans) carryOut(prompt string, err error) tea.Cmd {
	switch {
	case errors.Is(err, ask.ErrClosed):
		p.showMessage("the plan is kept; /plan shows it again")
	case err != nil:
		p.showMessage(err.Error())
	case prompt == "":
		return p.settings.toMode("plan")
	case p.can() == "":
		return p.begin(job{prompt: api.Prompt{Text: prompt}})
	}
	return nil
}
