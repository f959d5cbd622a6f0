package tui

import (
	"bytes"
	"context"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/session/api"
)

// staged is the review of a staged turn: one question about all that it changed, when it has ended
// and by its command.
type staged struct {
	host
	ports *api.Ports
	begin func(j job) tea.Cmd
}

func (s *staged) commands() []command {
	return []command{{name: "stage", args: "[take|drop]", help: "the changes of a staged turn: review, take or drop them", can: s.can, do: s.decide}}
}

func (s *staged) can() string {
	switch {
	case s.ports.Staged == nil:
		return "there are no staged turns here"
	case s.working():
		return "busy: stop the agent first, or wait"
	}
	return ""
}

// decide opens the review, or carries out what is written behind the command.
func (s *staged) decide(arg string) tea.Cmd {
	switch arg {
	case "":
		arg = "review"
	case "take", "drop":
	default:
		s.say("/stage, /stage take or /stage drop")
		return nil
	}
	return s.begin(job{run: func(ctx context.Context) session.Result { return s.ports.Staged(ctx, arg) }})
}

// review opens by itself when a turn has left changes.
func (s *staged) review(r session.Result) tea.Cmd {
	if s.ports.Staged == nil || !bytes.Contains(r.Staged, []byte(`"decision":"kept"`)) {
		return nil
	}
	return s.decide("")
}
