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
	"adze/tui/draw"
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
	m.picker.begin("sessions", []choice{{id: fresh, label: "new session", note: "in this folder"}}, func(c choice) tea.Cmd {
		switch c.id {
		case fresh:
			return m.leaveFor(Next{New: true})
		case m.info.Session:
			m.say("this session is open already; " + m.keys.label(openCopy) + " in the list opens a copy of it")
			return nil
		}
		return m.leaveFor(Next{Session: c.id})
	})
	m.picker.copied = func(c choice) tea.Cmd { return m.leaveFor(Next{Session: c.id, Fork: true}) }
	if ask := m.ports.Peek; ask != nil {
		m.picker.peekWith(func(ctx context.Context, id string) ([]draw.Span, error) {
			p, err := ask(ctx, id)
			return peekLines(p), err
		})
	}
	now, info := m.now(), m.info
	return m.picker.lookup(func(ctx context.Context) ([]choice, error) {
		heads, err := m.ports.Sessions(ctx)
		return sessionChoices(heads, info, now), err
	})
}

func sessionChoices(heads []SessionHead, info Info, now time.Time) []choice {
	var here, elsewhere []choice
	for _, h := range heads {
		c := choice{id: h.ID, label: cmp.Or(shorten(h.Title), h.ID), find: h.Cwd + " " + h.ID}
		when := age(now, h.Updated)
		if h.ID == info.Session {
			when = "open now"
		}
		c.note = fmt.Sprintf("%-11s %s", when, h.Model)
		if h.Cwd == info.Cwd {
			here = append(here, c)
		} else {
			c.note += "  in " + filepath.Base(h.Cwd)
			elsewhere = append(elsewhere, c)
		}
	}
	return append(here, elsewhere...)
}

// peekBytes bounds what is shown of a message.
const peekBytes = 4 << 10

func peekLines(p SessionPeek) []draw.Span {
	facts := count(p.Turns, "turn") + ", " + count(p.Messages, "message")
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
