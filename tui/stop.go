package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/list"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// ender ends the interface.
type ender struct {
	hold func() // has it get no more keys; if nil, it has no terminal
}

// exit ends the interface now. Keys that follow are for what comes next.
func (e *ender) exit() tea.Cmd {
	if e.hold != nil {
		e.hold()
	}
	return tea.Quit
}

// stopper does what esc, ctrl+c and ctrl+d do: it stops, takes back and leaves.
type stopper struct {
	host
	*ender
	info      *Info
	prompt    *prompt.Line
	picker    *list.List
	turns     *turns
	questions *questions
	undo      *undo
	twice     *doublePress
	next      api.Next // how the user goes on
}

func (s *stopper) commands() []command {
	return []command{{name: "quit", help: "leave", do: noArgs(s.leaveKey)}}
}

func (s *stopper) can() string {
	return ui.Why(!s.working() && s.prompt.Empty() && s.undo.canRewind() != "", "nothing to stop: the agent is idle")
}

// stop ends the turn, keeping what was written so far; without a turn it clears the prompt.
func (s *stopper) stop() tea.Cmd {
	if s.turns.stop() {
		return nil
	}
	if s.questions.dismiss() { // a question without a turn: nobody else will answer it
		return s.questions.guard()
	}
	s.prompt.Clear()
	return nil
}

// escape stops the turn or clears the prompt. Where there is nothing of both, it takes the last
// message back: at once after a stop, else when it is pressed twice.
func (s *stopper) escape() tea.Cmd {
	switch {
	case s.turns.stopToRewind():
		s.say("your message comes back when the agent has stopped")
		return nil
	case s.working() || s.questions.asks() || !s.prompt.Empty():
		return s.stop()
	case s.turns.stopped:
		return s.undo.rewind()
	case s.twice.is(stop):
		return s.undo.choose()
	}
	return s.twice.arm(stop, "press "+s.label(stop)+" again to go back to a message")
}

// interrupt is ctrl+c: the first stops or clears, the second in a row quits.
func (s *stopper) interrupt() tea.Cmd {
	if s.twice.is(quit) || s.turns.leaving {
		return s.leave()
	}
	s.stop()
	return s.twice.arm(quit, "press "+s.label(quit)+" again to quit")
}

// leave quits; a running turn is stopped first, and its end is waited for.
func (s *stopper) leave() tea.Cmd {
	if s.turns.leave() {
		s.say("stopping the agent… (" + s.label(quit) + " leaves at once)")
		return nil
	}
	return s.exit()
}

// leaveKey leaves; while the agent works, the user confirms.
func (s *stopper) leaveKey() tea.Cmd { return s.leaveFor(api.Next{}) }

// quit ends the interface at once, to go on with something else.
func (s *stopper) quit(n api.Next) tea.Cmd {
	s.next = n
	return s.exit()
}

// leaveFor ends the interface to go on with something else; while the agent works, the user
// confirms.
func (s *stopper) leaveFor(n api.Next) tea.Cmd {
	if !s.working() || s.info.Watches {
		return s.quit(n)
	}
	what := "quit"
	if n != (api.Next{}) {
		what = "go on with that"
	}
	s.picker.Begin("the agent is working", []list.Choice{{ID: "stay", Label: "stay", Note: "the agent goes on"},
		{ID: "leave", Label: "stop the agent and " + what, Note: "what it did is saved"}},
		func(c list.Choice) tea.Cmd {
			if c.ID == "stay" {
				return nil
			}
			s.next = n
			return s.leave()
		})
	return nil
}
