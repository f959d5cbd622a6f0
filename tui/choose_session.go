package tui

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/safeterm"
	"adze/tui/choose"
	"adze/tui/draw"
	"adze/tui/look"
	"adze/tui/port"
)

func canSessions(m *model) string {
	if m.ports.Sessions == nil {
		return "nothing is saved here, so there are no other sessions"
	}
	return ""
}

// chooseSession lists stored sessions; those of this folder come first.
func (m *model) chooseSession() tea.Cmd {
	const fresh = ""
	m.picker.Begin("sessions", []choose.Choice{{ID: fresh, Label: "new session", Note: "in this folder"}}, func(c choose.Choice) tea.Cmd {
		switch c.ID {
		case fresh:
			return m.leaveFor(port.Next{New: true})
		case m.info.Session:
			m.say("this session is open already; " + m.keys.label(openCopy) + " in the list opens a copy of it")
			return nil
		}
		return m.leaveFor(port.Next{Session: c.ID})
	})
	m.picker.Copied = func(c choose.Choice) tea.Cmd { return m.leaveFor(port.Next{Session: c.ID, Fork: true}) }
	if ask := m.ports.Peek; ask != nil {
		m.picker.PeekWith(func(ctx context.Context, id string) ([]draw.Span, error) {
			p, err := ask(ctx, id)
			return peekLines(p), err
		})
	}
	now, info := m.now(), m.info
	return m.picker.Lookup(func(ctx context.Context) ([]choose.Choice, error) {
		heads, err := m.ports.Sessions(ctx)
		return sessionChoices(heads, info, now), err
	})
}

func sessionChoices(heads []port.SessionHead, info Info, now time.Time) []choose.Choice {
	var here, elsewhere []choose.Choice
	for _, h := range heads {
		c := choose.Choice{ID: h.ID, Label: cmp.Or(look.Shorten(h.Title), h.ID), Find: h.Cwd + " " + h.ID}
		when := look.Age(now, h.Updated)
		if h.ID == info.Session {
			when = "open now"
		}
		c.Note = fmt.Sprintf("%-11s %s", when, h.Model)
		if h.Cwd == info.Cwd {
			here = append(here, c)
		} else {
			c.Note += "  in " + filepath.Base(h.Cwd)
			elsewhere = append(elsewhere, c)
		}
	}
	return append(here, elsewhere...)
}

// peekBytes bounds what is shown of a message.
const peekBytes = 4 << 10

func peekLines(p port.SessionPeek) []draw.Span {
	facts := look.Count(p.Turns, "turn") + ", " + look.Count(p.Messages, "message")
	if p.Cost != nil {
		facts += fmt.Sprintf(", $%.2f", *p.Cost)
	}
	lines := []draw.Span{{Style: draw.Dim, Text: safeterm.Name(facts)}}
	for _, said := range []struct {
		style draw.Style
		text  string
	}{{draw.You, p.Asked}, {draw.Plain, p.Answered}} {
		text := strings.TrimSpace(said.text)
		if len(text) > peekBytes {
			text = strings.ToValidUTF8(text[:peekBytes], "") + "…"
		}
		if text == "" {
			continue
		}
		lines = append(lines, draw.Span{})
		for _, line := range safeterm.Clean(text).Lines() {
			lines = append(lines, draw.Span{Style: said.style, Text: line})
		}
	}
	return lines
}
