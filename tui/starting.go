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

// starting is an interface whose conversation is still being built. It draws the prompt, and the
// user can write. It keeps all keys. The interface of the conversation gets them later, as if they
// were pressed then.
type starting struct {
	*model
	typed []tea.Msg // keys and pastes
	told  batch     // what happened meanwhile
	// renew makes the interface of the conversation, in place of this one.
	renew func(Options) *model
}

// built says that the conversation is there.
type built struct{ Options }

// Begin gives an interface that was made with Starting its conversation. It may be called once,
// from any goroutine.
func (u *UI) Begin(o Options) { u.bridge.push(built{o}) }

// update takes a message until the conversation is there.
func (s *starting) update(msg tea.Msg) (tty.Interface, tea.Cmd) {
	switch msg := msg.(type) {
	case batch:
		return s.take(msg)
	case tea.KeyPressMsg:
		return s.model, s.press(msg)
	case tea.PasteMsg: // a file that is dropped is attached once, later
		s.typed = append(s.typed, msg)
		s.paste(msg.Content)
		return s.model, nil
	}
	return s.model, s.receive(msg)
}

// take shows events and keeps them for the interface that follows. A question waits for that one.
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

// become gives way to the interface of the conversation.
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

// press obeys a key and keeps it. The key that stops takes sent messages back.
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

// means reports that a key is that of an action, whether it can be done now or not.
func (s *starting) means(key tea.KeyPressMsg, a action) bool {
	return slices.ContainsFunc(s.keys.index[s.scope()][key.String()], func(b *binding) bool { return b.action == a })
}

// unsent takes all that was written, sent or not.
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

// hold queues a message that is sent early. Only /quit is obeyed at once.
func hold(p *prompt.Line, c *commander) tea.Cmd {
	if name, arg, ok := plain.Slash(p.Text); ok {
		if full, _, known := c.meant(name); known && full == "quit" {
			return c.command(name, arg)
		}
	}
	if sent := p.Take(); sent.Text != "" {
		p.Enqueue(sent)
	}
	return nil
}
