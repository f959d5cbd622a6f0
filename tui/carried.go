package tui

import (
	"cmp"
	"context"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/api"
	"adze/tui/draw"
	"adze/tui/list"
)

// consented is the answer of the program to a consent that was given or taken back.
type consented struct {
	item  api.Carried
	allow bool
	err   error
}

func canTrust(m *model) string {
	if m.ports.Carried == nil || m.ports.Consent == nil {
		return "what the project carries cannot be looked at here"
	}
	return ""
}

// chooseCarried lists what the project would run; each is allowed or taken back on a screen of its
// own.
func chooseCarried(m *model) tea.Cmd {
	var found sync.Map // of api.Carried by id: it is filled and looked into beside the interface
	of := func(id string) api.Carried {
		i, _ := found.Load(id)
		item, _ := i.(api.Carried)
		return item
	}
	m.picker.Begin("what this project would run", nil, func(c list.Choice) tea.Cmd {
		consent(m, of(c.ID))
		return nil
	})
	m.picker.PeekWith("exactly what it is", func(_ context.Context, id string) ([]draw.Span, error) { return carriedLines(of(id)), nil })
	ask := m.ports.Carried
	return m.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		items, err := ask(ctx)
		var out []list.Choice
		for _, i := range items {
			found.Store(i.ID, i)
			note := i.State + " · " + oneRow(i.Command)
			if i.Off != "" {
				note += " · "
			}
			out = append(out, list.Choice{ID: i.ID, Label: i.ID, Note: note, Off: i.Off})
		}
		if len(out) == 0 && err == nil {
			out = []list.Choice{{Label: "nothing", Off: "this project carries nothing that would run"}}
		}
		return out, err
	})
}

func oneRow(s string) string { return strings.Join(strings.Fields(s), " ") }

// carriedLines shows an item whole: what is consented to is what is seen.
func carriedLines(i api.Carried) []draw.Span {
	lines := []draw.Span{{Style: draw.Bold, Text: safeterm.Name(i.ID + " · " + i.State)}}
	for _, line := range i.Lines {
		lines = append(lines, draw.Span{Text: safeterm.Name(line)})
	}
	return lines
}

// consent asks once more, with all that is consented to.
func consent(m *model, i api.Carried) {
	allow := !i.Allowed
	title, yes := "allow "+i.ID+"?", list.Choice{ID: "yes", Label: "allow it as it is", Note: strings.Join(i.Lines, " · ")}
	if !allow {
		title, yes.Label = "take back what you allowed of "+i.ID+"?", "take it back"
	}
	ask := m.ports.Consent
	m.picker.Begin(title, []list.Choice{{ID: "no", Label: "leave it as it is"}, yes}, func(c list.Choice) tea.Cmd {
		if c.ID != "yes" {
			return nil
		}
		m.say("keeping what you said of " + i.ID + "…")
		return func() tea.Msg {
			return consented{i, allow, ask(context.Background(), i, allow)}
		}
	})
	m.picker.PeekWith("exactly what it is", func(context.Context, string) ([]draw.Span, error) { return carriedLines(i), nil })
}

// goOnWith goes on in the same session, with the tools as they are then.
func goOnWith(m *model, c consented) tea.Cmd {
	switch {
	case c.err != nil:
		m.say("error: " + c.err.Error())
		return nil
	case m.ports.Switch:
		return m.leaveFor(api.Next{Session: m.info.Session})
	case c.allow:
		m.say(c.item.ID + " is allowed; it is there at the next start")
		return nil
	}
	m.say(c.item.ID + " does not run any more")
	return nil
}

// The answers of the question whether a choice is kept.
const (
	forNow = "now"
	kept   = "keep"
)

// keep asks once whether a choice holds for later sessions too, and goes on with the answer.
// Nothing is asked where that is so already, or where nothing can be written.
func keep(m *model, name, value string, next func(keep bool) tea.Cmd) tea.Cmd {
	if m.ports.Keep == nil || m.ports.Kept == nil || m.ports.Kept(name) == value {
		return next(false)
	}
	m.picker.Begin(value+": keep as default?", []list.Choice{
		{ID: forNow, Label: "for now"},
		{ID: kept, Label: "keep", Note: "into " + configuration(m) + "; comments stay"},
	}, func(c list.Choice) tea.Cmd { return next(c.ID == kept) })
	return nil
}

// writing writes a choice down when the user says so.
func writing(m *model, name, value string) func(keep bool) tea.Cmd {
	return func(keep bool) tea.Cmd {
		if !keep {
			return nil
		}
		if err := m.ports.Keep(name, value); err != nil {
			m.say("not kept: " + err.Error())
		} else {
			m.say(value + " is kept in " + configuration(m))
		}
		return nil
	}
}

func configuration(m *model) string { return cmp.Or(m.info.Config, "the configuration") }
