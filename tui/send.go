package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/prompt"
	"adze/tui/transcript"
)

// sender sends the prompt to the agent, a command or the shell.
type sender struct {
	host
	ports      *api.Ports
	prompt     *prompt.Line
	transcript *transcript.Pane
	turns      *turns
	commander  *commander
	held       func() bool // the last message is being taken back
	early      bool        // the conversation is not built yet
}

func (s *sender) can() string {
	if s.held() {
		return "one moment: your message is coming back"
	}
	if strings.TrimSpace(s.prompt.Text) == "" {
		return "nothing to send: the prompt is empty"
	}
	return ""
}

// send handles Enter: it runs a slash command or a shell command, or sends a message. While the
// agent works, messages are queued.
func (s *sender) send() tea.Cmd {
	if s.prompt.Continues() {
		return nil
	}
	if s.early {
		return hold(s.prompt, s.commander)
	}
	text := s.prompt.Text
	if name, arg, ok := s.commander.read(text); ok && !s.commander.carries(name) {
		return s.commander.command(name, arg)
	}
	if line, ok := strings.CutPrefix(strings.TrimSpace(text), "!"); ok {
		return s.shell(strings.TrimSpace(line))
	}
	p := s.prompt.Take()
	if p.Text == "" {
		return nil
	}
	s.transcript.ToEnd()
	if s.working() {
		s.prompt.Enqueue(p)
		return s.remember(p.Text)
	}
	return tea.Batch(s.remember(p.Text), s.turns.begin(job{prompt: p}))
}

// longMemory is the longest message stored for later sessions, in bytes.
const longMemory = 4 << 10

func (s *sender) remember(text string) tea.Cmd {
	if s.ports.Remember == nil || len(text) > longMemory {
		return nil
	}
	return func() tea.Msg { s.ports.Remember(text); return nil }
}

// shell runs the user's shell command.
func (s *sender) shell(line string) tea.Cmd {
	switch {
	case s.ports.Run == nil:
		s.showMessage("this session runs no commands")
	case line == "":
		s.showMessage("write a command after !")
	case s.working():
		s.showMessage("busy: stop the agent first, or wait")
	default:
		full := s.prompt.Take().Text
		s.transcript.ToEnd()
		return tea.Batch(s.remember(full), s.turns.begin(job{command: line}))
	}
	return nil
}

func (s *sender) canSteer() string {
	switch {
	case s.ports.Steer == nil:
		return "messages wait until the agent has finished"
	case !s.working() || s.turns.turn.shell:
		return "the agent is idle: " + s.label(send) + " sends"
	}
	return s.can()
}

// steer passes the message to the agent before its next step.
func (s *sender) steer() tea.Cmd {
	p := s.prompt.Take()
	s.transcript.ToEnd()
	if len(p.Attach) > 0 || s.commander.begins(p.Text) || !s.ports.Steer(p.Text) { // a carried command begins its own turn
		s.prompt.Enqueue(p)
		return s.remember(p.Text)
	}
	s.prompt.Steered(p)
	return s.remember(p.Text)
}
