package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/transcript"
	"adze/tui/ui"
)

// sessions handles this session and other stored sessions.
type sessions struct {
	host
	ports      *api.Ports
	picker     *list.List
	transcript *transcript.Pane
	info       *Info
	inline     func() bool // reports whether the conversation is in the terminal's scrollback
}

// overview shows all sessions. If the overview opened this session and nothing runs, the interface
// leaves; otherwise the overview opens on top and the session continues.
func (s *sessions) overview() tea.Cmd {
	if s.info.Back && (!s.canBeside() || !s.working()) {
		return s.leaveFor(api.Next{})
	}
	return s.lend(s.ports.Overview, func(err error) tea.Cmd {
		if err != nil {
			s.showMessage("error: " + err.Error())
		}
		return nil
	})
}

func (s *sessions) canBeside() bool { return s.ports.Overview != nil && s.lends() }

func (s *sessions) canOverview() string {
	return ui.ReasonIf(!s.info.Back && !s.canBeside(), "not from here: adze sessions")
}

func (s *sessions) commands() []command {
	return []command{
		{name: "overview", hidden: true, help: "all sessions on one screen, while this one goes on", can: s.canOverview, run: noArgs(s.overview)},
		{name: "sessions", help: "all sessions: open one, or search them", can: s.can, run: noArgs(s.choose)},
		{name: "new", help: "a new session in this folder", can: s.canSwitch, run: noArgs(s.begin)},
		{name: "resume", hidden: true, args: "id", help: "open the session with this id, or choose one", can: s.canSwitch, run: s.resume},
		{name: "fork", help: "go on in a copy of this session", can: s.canFork, run: noArgs(s.fork)},
		{name: "inline", hidden: true, help: "keep the conversation in the terminal's scrollback, or take the whole screen", can: s.canSwitch, run: noArgs(s.otherScreen)},
		{name: "background", args: "<prompt>", help: "go on with a prompt without a terminal; adze sessions attach shows it", can: s.canSwitch, run: s.background},
		{name: "clear", hidden: true, help: "a new session in this folder", can: s.canSwitch, run: noArgs(s.begin)},
	}
}

func (s *sessions) can() string {
	return ui.ReasonIf(s.ports.Sessions == nil, "nothing is saved here, so there are no sessions")
}

// choose lists stored sessions, those of this folder first. Typing also searches the conversations.
func (s *sessions) choose() tea.Cmd {
	title := "sessions"
	if s.ports.Search != nil {
		title += " · type to search titles and conversations"
	}
	s.picker.Begin(title, nil, func(c list.Choice) tea.Cmd {
		id, at := placeOf(c.ID)
		switch {
		case id == s.info.Session && at != (api.Place{}):
			s.show(at)
			return nil
		case id == s.info.Session:
			s.showMessage("this session is already open; " + s.label(openCopy) + " in the list opens a copy of it")
			return nil
		}
		return s.leaveFor(api.Next{Session: id, Place: at})
	})
	s.picker.Copied = func(c list.Choice) tea.Cmd {
		id, at := placeOf(c.ID)
		return s.leaveFor(api.Next{Session: id, Place: at, Fork: true})
	}
	now, info := s.clock(), *s.info
	if ask := s.ports.Peek; ask != nil {
		s.picker.PeekWith("its last exchange", func(ctx context.Context, id string) ([]draw.Span, error) {
			id, _ = placeOf(id)
			p, err := ask(ctx, id)
			return peekLines(p), err
		})
	}
	if find := s.ports.Search; find != nil {
		s.picker.SearchWith(func(ctx context.Context, text string) ([]list.Choice, string, error) {
			found, note, err := find(ctx, text)
			return foundChoices(found, info, now), note, err
		})
	}
	return s.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		heads, err := s.ports.Sessions(ctx)
		return sessionChoices(heads, info, now), err
	})
}

func (s *sessions) canSwitch() string {
	return ui.ReasonIf(!s.ports.Switch, "this session cannot be left for another; quit and start adze again")
}

// otherScreen restarts this session inline or full-screen.
func (s *sessions) otherScreen() tea.Cmd {
	to := api.Inline
	if s.inline() {
		to = api.Whole
	}
	return s.leaveFor(api.Next{Session: s.info.Session, Screen: to})
}

// background leaves, and the session continues with a prompt.
func (s *sessions) background(prompt string) tea.Cmd {
	if strings.TrimSpace(prompt) == "" {
		s.showMessage("say what to do there: /background PROMPT")
		return nil
	}
	return s.leaveFor(api.Next{Session: s.info.Session, Background: prompt})
}

func (s *sessions) begin() tea.Cmd { return s.leaveFor(api.Next{New: true}) }

func (s *sessions) resume(arg string) tea.Cmd {
	switch {
	case arg == "" && s.ports.Sessions != nil:
		return s.choose()
	case arg == "":
		s.showMessage("add the id of a session")
		return nil
	}
	return s.leaveFor(api.Next{Session: arg})
}

// fork continues in a copy of this session.
func (s *sessions) fork() tea.Cmd {
	return s.leaveFor(api.Next{Session: s.info.Session, Fork: true})
}

func (s *sessions) canFork() string {
	if why := s.canSwitch(); why != "" {
		return why
	}
	if s.transcript.Len() == 0 {
		return "nothing to copy: the conversation is empty"
	}
	return ""
}

// show scrolls to a place if it is still in the conversation.
func (s *sessions) show(at api.Place) {
	if at != (api.Place{}) && !s.transcript.Reveal(at.Message, at.Call) {
		s.showMessage("that message is no longer here (taken back, summed up, or a subagent's): adze sessions show " + s.info.Session + " has it")
	}
}
