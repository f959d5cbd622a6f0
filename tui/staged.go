package tui

import (
	"bytes"
	"cmp"
	"context"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/session/api"
	"adze/tui/ui"
)

// staged reviews a staged turn: one question about all its changes, at its end or by /stage.
type staged struct {
	host
	ports  *api.Ports
	begin  func(j job) tea.Cmd
	inMode func() // shows the current mode
}

func (s *staged) commands() []command {
	return []command{{name: "stage", args: "[on|off|take|drop]", help: "stage the changes of each turn, or not; review, take or drop those that wait", can: s.can, run: s.decide}}
}

func (s *staged) can() string {
	return cmp.Or(ui.ReasonIf(s.ports.Staged == nil, "there are no staged turns here"), busy(s))
}

// decide opens the review, or carries out the argument.
func (s *staged) decide(arg string) tea.Cmd {
	switch arg {
	case "":
		arg = "review"
	case "on", "off":
		return s.stage(arg == "on")
	case "take", "drop":
	default:
		s.showMessage("/stage on, off, take or drop")
		return nil
	}
	return s.begin(job{run: func(ctx context.Context) session.Result { return s.ports.Staged(ctx, arg) }})
}

// stage turns staging of later turns on or off.
func (s *staged) stage(on bool) tea.Cmd {
	if s.ports.Review == nil {
		s.showMessage("this window cannot choose that; the session's own window can")
		return nil
	}
	if err := s.ports.Review(on); err != nil {
		s.showMessage("error: " + err.Error())
	} else {
		s.inMode()
	}
	return nil
}

// review opens the review after a turn that has left changes.
func (s *staged) review(r session.Result) tea.Cmd {
	if s.ports.Staged == nil || !bytes.Contains(r.Staged, []byte(`"decision":"kept"`)) {
		return nil
	}
	return s.decide("")
}
