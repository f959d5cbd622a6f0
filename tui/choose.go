package tui

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tool"
)

// SessionHead is a stored session in the list.
type SessionHead struct {
	ID      string
	Title   string // the first line of what was first asked
	Model   string
	Cwd     string
	Updated time.Time
}

// Next says how the person wants to go on after Run: the interface itself cannot exchange its session or model.
// The zero value means that they quit.
type Next struct {
	Session string // the id to open
	New     bool   // a new session in this folder
	Model   string // the model to go on with: provider/name
}

// lookupTime bounds how long a list may take: the person waits for it.
const lookupTime = 10 * time.Second

// filled is the answer to a lookup of a picker.
type filled struct {
	serial int
	items  []choice
	err    error
}

// lookup fills the open picker in the background.
func (m *model) lookup(look func(ctx context.Context) ([]choice, error)) tea.Cmd {
	m.picker.wait = "looking…"
	serial := m.picker.serial
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
		defer cancel()
		items, err := look(ctx)
		return filled{serial, items, err}
	}
}

func (m *model) filled(f filled) {
	if m.picker.open && f.serial == m.picker.serial {
		m.picker.fill(f.items, f.err)
	}
}

func canSessions(m *model) string {
	if m.ports.Sessions == nil {
		return "nothing is saved here, so there are no other sessions"
	}
	return ""
}

// chooseSession lists stored sessions; those of this folder come first.
func (m *model) chooseSession() tea.Cmd {
	const fresh = ""
	m.picker.begin("sessions", []choice{{fresh, "new session", "in this folder"}}, func(m *model, c choice) tea.Cmd {
		switch c.id {
		case fresh:
			return m.leaveFor(Next{New: true})
		case m.info.Session:
			m.say("this session is open already")
			return nil
		}
		return m.leaveFor(Next{Session: c.id})
	})
	return m.lookup(func(ctx context.Context) ([]choice, error) {
		heads, err := m.ports.Sessions(ctx)
		return sessionChoices(heads, m.info), err
	})
}

func sessionChoices(heads []SessionHead, info Info) []choice {
	var here, elsewhere []choice
	for _, h := range heads {
		c := choice{h.ID, cmp.Or(shorten(h.Title), h.ID), h.Updated.Format("2006-01-02 15:04") + "  " + h.Model}
		if h.ID == info.Session {
			c.note += "  (open)"
		}
		if h.Cwd == info.Cwd {
			here = append(here, c)
		} else {
			c.note += "  " + h.Cwd
			elsewhere = append(elsewhere, c)
		}
	}
	return append(here, elsewhere...)
}

func canModels(m *model) string {
	if m.ports.Models == nil {
		return "the model cannot be changed in this session"
	}
	return ""
}

// chooseModel lists models; a name that is in no list can be given to the command.
func (m *model) chooseModel() tea.Cmd {
	m.picker.begin("models · now "+m.info.Model+" · any other: /model provider/name", nil, func(m *model, c choice) tea.Cmd {
		return m.toModel(c.id)
	})
	return m.lookup(func(ctx context.Context) ([]choice, error) {
		names, err := m.ports.Models(ctx)
		var items []choice
		for _, n := range names {
			items = append(items, choice{n, n, ""})
		}
		return items, err
	})
}

func (m *model) toModel(name string) tea.Cmd {
	if name == m.info.Model {
		m.say("this is the model already")
		return nil
	}
	return m.leaveFor(Next{Session: m.info.Session, Model: name})
}

func canModes(m *model) string {
	if m.ports.SetMode == nil || len(m.ports.Modes) == 0 {
		return "the mode cannot be changed here"
	}
	return ""
}

func (m *model) chooseMode() tea.Cmd {
	var items []choice
	at := 0
	for i, mode := range m.ports.Modes {
		items = append(items, choice{mode.Name, mode.Name, mode.Means})
		if mode.Name == m.status.info.Mode {
			at = i
		}
	}
	m.picker.begin("permission modes · now "+m.status.info.Mode, items, func(m *model, c choice) tea.Cmd { return m.toMode(c.id) })
	m.picker.move(at)
	return nil
}

// toMode changes the mode for calls that are judged from now on.
func (m *model) toMode(name string) tea.Cmd {
	if err := m.ports.SetMode(name); err != nil {
		m.say("error: " + err.Error())
		return nil
	}
	m.info.Mode, m.status.info.Mode = name, name
	m.say("permission mode: " + name)
	return nil
}

func canCancelCall(m *model) string {
	switch {
	case m.ports.CancelCall == nil:
		return "single calls cannot be aborted here"
	case len(m.activity.started()) == 0:
		return "no call runs"
	}
	return ""
}

// cancelCall aborts the one call that runs, or asks which one; the agent goes on.
func (m *model) cancelCall() tea.Cmd {
	running := m.activity.started()
	if len(running) == 1 {
		return m.cancelOne(running[0].id, running[0].name)
	}
	var items []choice
	for _, c := range running {
		items = append(items, choice{string(c.id), c.name, c.title})
	}
	m.picker.begin("abort which call?", items, func(m *model, c choice) tea.Cmd {
		return m.cancelOne(tool.CallID(c.id), c.label)
	})
	return nil
}

func (m *model) cancelOne(id tool.CallID, name string) tea.Cmd {
	if m.ports.CancelCall(id) {
		m.say("aborting " + name + "; the agent goes on")
	} else {
		m.say(name + " has ended already")
	}
	return nil
}

// leaveFor ends the interface to go on with something else; while the agent works, the person confirms.
func (m *model) leaveFor(n Next) tea.Cmd {
	if !m.turn.running {
		m.next = n
		return tea.Quit
	}
	what := "quit"
	if n != (Next{}) {
		what = "go on with that"
	}
	m.picker.begin("the agent works", []choice{{"stay", "stay", "the agent goes on"}, {"leave", "stop the agent and " + what, "what it did is saved"}},
		func(m *model, c choice) tea.Cmd {
			if c.id == "stay" {
				return nil
			}
			m.next = n
			return m.leave()
		})
	return nil
}

// named finds what a command's argument means among names: itself, or the only one that it begins.
func named(arg string, names []string) (string, bool) {
	var found []string
	for _, n := range names {
		if n == arg {
			return n, true
		}
		if strings.HasPrefix(n, arg) {
			found = append(found, n)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return "", false
}
