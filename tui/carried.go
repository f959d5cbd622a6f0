package tui

import (
	"context"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/ui"
)

// trust lists commands that the project brings along and asks the user to allow each.
type trust struct {
	host
	ports  *api.Ports
	picker *list.List
	info   *Info
}

func (t *trust) commands() []command {
	return []command{{name: "trust", help: "what this project may run, and what you allowed", can: t.can, run: noArgs(t.choose)}}
}

func (t *trust) can() string {
	return ui.ReasonIf(t.ports.ProjectPrograms == nil || t.ports.Consent == nil, "this session cannot read what the project may run")
}

// choose lists the project's commands; each is allowed or revoked on its own screen.
func (t *trust) choose() tea.Cmd {
	var found sync.Map // api.Carried by id; filled and read from background goroutines
	of := func(id string) api.ProjectProgram {
		i, _ := found.Load(id)
		item, _ := i.(api.ProjectProgram)
		return item
	}
	t.picker.Begin("what this project may run", nil, func(c list.Choice) tea.Cmd {
		t.consent(of(c.ID))
		return nil
	})
	t.picker.PeekWith("exactly what it is", func(_ context.Context, id string) ([]draw.Span, error) { return carriedLines(of(id)), nil })
	ask := t.ports.ProjectPrograms
	return t.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		items, err := ask(ctx)
		var out []list.Choice
		for _, i := range items {
			found.Store(i.ID, i)
			note := i.State + " · " + oneRow(i.Command)
			if i.BlockedReason != "" {
				note += " · "
			}
			out = append(out, list.Choice{ID: i.ID, Label: i.ID, Note: note, DisabledReason: i.BlockedReason})
		}
		if len(out) == 0 && err == nil {
			out = []list.Choice{{Label: "nothing", DisabledReason: "this project has nothing to run"}}
		}
		return out, err
	})
}

// carriedLines shows an item in full, because the user consents to all of it.
func carriedLines(i api.ProjectProgram) []draw.Span {
	lines := []draw.Span{{Style: draw.Bold, Text: safeterm.Name(i.ID + " · " + i.State)}}
	for _, line := range i.Lines {
		lines = append(lines, draw.Span{Text: safeterm.Name(line)})
	}
	return lines
}

// consent asks for confirmation and shows the item in full.
func (t *trust) consent(i api.ProjectProgram) {
	allow := !i.Allowed
	title, no, yes := "allow "+i.ID+"?", "do not allow it", list.Choice{ID: "yes", Label: "allow it as it is", Note: strings.Join(i.Lines, " · ")}
	if !allow {
		title, no, yes.Label = "no longer allow "+i.ID+"?", "keep it allowed", "no longer allow it"
	}
	ask := t.ports.Consent
	t.picker.Ask(title, []list.Choice{{ID: "no", Label: no}, yes}, func(c list.Choice) tea.Cmd {
		t.showMessage("keeping what you said of " + i.ID + "…")
		return async.Ask(func() error { return ask(context.Background(), i, allow) }, func(err error) tea.Cmd { return t.goOnWith(i, allow, err) })
	})
	t.picker.PeekWith("exactly what it is", func(context.Context, string) ([]draw.Span, error) { return carriedLines(i), nil })
}

// goOnWith restarts the same session with the changed set of tools, if the program can switch.
func (t *trust) goOnWith(i api.ProjectProgram, allow bool, err error) tea.Cmd {
	switch {
	case err != nil:
		t.showMessage("error: " + err.Error())
		return nil
	case t.ports.Switch:
		return t.leaveFor(api.Next{Session: t.info.Session})
	case allow:
		t.showMessage(i.ID + " is allowed; it works from the next start on")
		return nil
	}
	t.showMessage(i.ID + " does not run any more")
	return nil
}
