package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/session"
	"adze/tui/plain"
	"adze/tui/prompt"
	"adze/tui/tty"
)

// starting is the interface while the conversation is being built. It draws the prompt, and the
// user can write. It records all keys and replays them to the conversation's interface.
type starting struct {
	*model
	typed []tea.Msg // keys and pastes
	told  batch     // events so far
	// renew creates the conversation's interface in place of this one.
	renew func(Options) *model
}

// built announces the finished conversation.
type built struct{ Options }

// Begin passes the conversation to an interface created with Options.Starting. It may be called
// once, from any goroutine.
func (u *UI) Begin(o Options) { u.bridge.push(built{o}) }

// update handles a message until the conversation is built.
func (s *starting) update(msg tea.Msg) (tty.Interface, tea.Cmd) {
	switch msg := msg.(type) {
	case batch:
		return s.take(msg)
	case tea.KeyPressMsg:
		return s.model, s.press(msg)
	case tea.PasteMsg: // a dropped file is attached once, in the replay
		s.typed = append(s.typed, msg)
		s.paste(msg.Content)
		return s.model, nil
	}
	return s.model, s.receive(msg)
}

// take shows events and records them for the replay. Questions wait for it.
func (s *starting) take(b batch) (tty.Interface, tea.Cmd) {
	for i, x := range b {
		switch x := x.(type) {
		case built:
			return s.become(x.Options, b[i+1:])
		case session.Event:
			s.apply(x)
		}
		s.told = append(s.told, x)
	}
	return s.model, nil
}

// become switches to the conversation's interface and replays events and keys.
func (s *starting) become(o Options, rest batch) (tty.Interface, tea.Cmd) {
	next := s.renew(o)
	next.w, next.h, next.window.away = s.w, s.h, s.window.away
	cmds := []tea.Cmd{next.Init()}
	for _, msg := range append([]tea.Msg{append(s.told, rest...)}, s.typed...) {
		_, cmd := next.Update(msg)
		cmds = append(cmds, cmd)
	}
	return next, tea.Batch(cmds...)
}

// press handles a key and records it. The stop key takes back sent messages.
func (s *starting) press(key tea.KeyPressMsg) tea.Cmd {
	switch waits := s.prompt.Queued() > 0; {
	case s.means(key, suspend):
		return s.key(key)
	case waits && s.means(key, stop):
		back := s.unsent()
		s.typed = []tea.Msg{tea.PasteMsg{Content: back}}
		s.prompt.Paste(back)
		return nil
	case waits && s.means(key, quit):
		s.unsent()
		s.typed = nil
	}
	s.typed = append(s.typed, key)
	return s.key(key)
}

// means reports whether a key belongs to an action, even an unavailable one.
func (s *starting) means(key tea.KeyPressMsg, a action) bool {
	return slices.ContainsFunc(s.keys.index[s.scope()][key.String()], func(b *binding) bool { return b.action == a })
}

// unsent removes and returns all text, sent or not.
func (s *starting) unsent() string {
	var texts []string
	for {
		p, ok := s.prompt.Next()
		if !ok {
			break
		}
		texts = append(texts, p.Text)
	}
	if !s.prompt.Empty() {
		texts = append(texts, s.prompt.Take().Text)
	}
	return strings.Join(texts, "\n")
}

// hold queues a message until the conversation is built. Only /quit runs at once.
func hold(p *prompt.Line, c *commander) tea.Cmd {
	if name, arg, ok := plain.Slash(p.Text); ok {
		if full, _, known := c.resolve(name); known && full == "quit" {
			return c.command(name, arg)
		}
	}
	if sent := p.Take(); sent.Text != "" {
		p.Enqueue(sent)
	}
	return nil
}
