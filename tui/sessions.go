package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"adze/tui/api"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/transcript"
)

// sessions are this session and the others that are stored.
type sessions struct {
	host
	ports      *api.Ports
	picker     *list.List
	transcript *transcript.Pane
	info       *Info
}

func (s *sessions) commands() []command {
	return []command{
		{name: "sessions", help: "open another session, or a new one", can: s.can, do: noArgs(s.choose)},
		{name: "new", help: "a new session in this folder", can: s.canSwitch, do: noArgs(s.begin)},
		{name: "resume", args: "id", help: "open the session of this id", can: s.canSwitch, do: s.resume},
		{name: "fork", help: "go on in a copy of this session", can: s.canFork, do: noArgs(s.fork)},
		{name: "clear", help: "the same as new: the model forgets this conversation", can: s.canSwitch, do: noArgs(s.begin)},
	}
}

func (s *sessions) can() string {
	if s.ports.Sessions == nil {
		return "nothing is saved here, so there are no other sessions"
	}
	return ""
}

// choose lists stored sessions; those of this folder come first. What is typed is also
// looked for in what was said.
func (s *sessions) choose() tea.Cmd {
	const fresh = ""
	title := "sessions"
	if s.ports.Search != nil {
		title += " · what you type is also looked for in what was said"
	}
	s.picker.Begin(title, []list.Choice{{ID: fresh, Label: "new session", Note: "in this folder"}}, func(c list.Choice) tea.Cmd {
		id, at := placeOf(c.ID)
		switch {
		case id == fresh:
			return s.leaveFor(api.Next{New: true})
		case id == s.info.Session && at != (api.Place{}):
			s.show(at)
			return nil
		case id == s.info.Session:
			s.say("this session is open already; " + s.label(openCopy) + " in the list opens a copy of it")
			return nil
		}
		return s.leaveFor(api.Next{Session: id, At: at})
	})
	s.picker.Copied = func(c list.Choice) tea.Cmd {
		id, at := placeOf(c.ID)
		return s.leaveFor(api.Next{Session: id, At: at, Fork: true})
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
	if !s.ports.Switch {
		return "this session cannot be exchanged for another; quit and start adze again"
	}
	return ""
}

func (s *sessions) begin() tea.Cmd { return s.leaveFor(api.Next{New: true}) }

func (s *sessions) resume(arg string) tea.Cmd {
	switch {
	case arg == "" && s.ports.Sessions != nil:
		return s.choose()
	case arg == "":
		s.say("write the id of a session behind it")
		return nil
	}
	return s.leaveFor(api.Next{Session: arg})
}

// fork goes on in a copy of this session; what was said so far stands in both.
func (s *sessions) fork() tea.Cmd {
	return s.leaveFor(api.Next{Session: s.info.Session, Fork: true})
}

func (s *sessions) canFork() string {
	if why := s.canSwitch(); why != "" {
		return why
	}
	if s.transcript.Len() == 0 {
		return "nothing was said yet that a copy could hold"
	}
	return ""
}

// show shows a place of the conversation, where it is still a part of it.
func (s *sessions) show(at api.Place) {
	if at != (api.Place{}) && !s.transcript.Reveal(at.Message, at.Call) {
		s.say("that was taken back, summed up, or said by a subagent: adze session show " + s.info.Session + " has it")
	}
}
