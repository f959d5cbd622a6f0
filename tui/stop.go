package tui

import (
	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/list"
	"adze/tui/prompt"
	"adze/tui/ui"
)

// shutdown ends the interface.
type shutdown struct {
	hold func() // stops reading keys; nil without a terminal
}

// exit ends the interface. Later keys are left for the next program.
func (e *shutdown) exit() tea.Cmd {
	if e.hold != nil {
		e.hold()
	}
	return tea.Quit
}

// stopper handles esc, ctrl+c and ctrl+d: it stops turns, takes back messages and quits.
type stopper struct {
	host
	*shutdown
	info      *Info
	prompt    *prompt.Line
	picker    *list.List
	turns     *turns
	questions *questions
	undo      *undo
	twice     *doublePress
	next      api.Next // the action after the interface
}

func (s *stopper) commands() []command {
	return []command{{name: "quit", help: "leave", run: noArgs(s.leaveKey)}}
}

func (s *stopper) can() string {
	return ui.ReasonIf(!s.working() && !s.questions.keysToMessage && s.prompt.Empty() && s.undo.canRewind() != "", "nothing to stop: the agent is idle")
}

// stop ends the turn, which keeps its partial output; without a turn it clears the prompt.
func (s *stopper) stop() tea.Cmd {
	if s.turns.stop() {
		return nil
	}
	if s.questions.dismiss() { // nothing else answers a question outside a turn
		return nil
	}
	s.prompt.Clear()
	return nil
}

// escape gives the keys of a message to a waiting question, stops the turn or clears the prompt.
// With none of them, it takes the last message back after a stop; otherwise a second press lists
// the messages to go back to.
func (s *stopper) escape() tea.Cmd {
	switch {
	case s.questions.answer():
		return nil
	case s.turns.stopToRewind():
		s.showMessage("your message comes back when the agent has stopped")
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

// interrupt handles ctrl+c: the first press stops or clears, the second in a row quits.
func (s *stopper) interrupt() tea.Cmd {
	if s.twice.is(quit) || s.turns.leaving {
		return s.leave()
	}
	s.stop()
	return s.twice.arm(quit, "press "+s.label(quit)+" again to quit")
}

// leave quits. It stops a running turn first and waits for its end.
func (s *stopper) leave() tea.Cmd {
	if s.turns.leave() {
		s.showMessage("stopping the agent… (" + s.label(quit) + " leaves at once)")
		return nil
	}
	return s.exit()
}

// leaveKey quits; while the agent works, it asks for confirmation.
func (s *stopper) leaveKey() tea.Cmd { return s.leaveFor(api.Next{}) }

// quit ends the interface at once and continues with n.
func (s *stopper) quit(n api.Next) tea.Cmd {
	s.next = n
	return s.exit()
}

// leaveFor ends the interface and continues with n; while the agent works, it asks for
// confirmation.
func (s *stopper) leaveFor(n api.Next) tea.Cmd {
	if !s.working() || s.info.Watches {
		return s.quit(n)
	}
	what := "quit"
	if n != (api.Next{}) {
		what = "go on with that"
	}
	s.picker.Ask("the agent is working", []list.Choice{{ID: "no", Label: "stay", Note: "the agent goes on"},
		{ID: "leave", Label: "stop the agent and " + what, Note: "what it did is saved"}},
		func(c list.Choice) tea.Cmd {
			s.next = n
			return s.leave()
		})
	return nil
}
