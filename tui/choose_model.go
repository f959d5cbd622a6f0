package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/choose"
	"adze/tui/port"
)

func canModels(m *model) string {
	if m.ports.Models == nil {
		return "the model cannot be changed in this session"
	}
	return ""
}

// chooseModel lists models. One that is in no list is chosen by typing its name.
func (m *model) chooseModel() tea.Cmd {
	now := m.info.Model
	name := "models · $ in/out a million tokens · or type provider/name"
	m.picker.Begin(name, nil, func(c choose.Choice) tea.Cmd { return m.toModel(c.ID) })
	m.picker.Free = freeModel
	return m.picker.Lookup(func(ctx context.Context) ([]choose.Choice, error) {
		rows, err := m.ports.Models(ctx)
		return modelChoices(rows, now), err
	})
}

// freeModel takes what was typed for a model.
func freeModel(text string) (choose.Choice, bool) {
	provider, name, ok := strings.Cut(text, "/")
	if !ok || provider == "" || name == "" || strings.ContainsAny(text, " \t") {
		return choose.Choice{}, false
	}
	return choose.Choice{ID: text, Label: text, Note: "not in the list; enter tries it"}, true
}

func modelChoices(rows []port.ModelRow, now string) []choose.Choice {
	var out []choose.Choice
	for _, r := range rows {
		c := choose.Choice{ID: r.Name, Label: r.Name, Off: r.Why}
		if r.Why == "" {
			c.Note = modelFacts(r)
		}
		if r.Name == now {
			c.Label += " (now)"
		}
		out = append(out, c)
	}
	return out
}

// modelFacts are what is known of a model, in columns.
func modelFacts(r port.ModelRow) string {
	context, price := "", ""
	if r.Context > 0 {
		context = tokens(r.Context)
	}
	if r.Input != nil && r.Output != nil {
		price = fmt.Sprintf("$%s/$%s", money(*r.Input), money(*r.Output))
	}
	marks := []string{}
	if r.Tools {
		marks = append(marks, "tools")
	}
	if r.Vision {
		marks = append(marks, "vision")
	}
	if r.Note != "" {
		marks = append(marks, r.Note)
	}
	return strings.TrimRight(fmt.Sprintf("%5s  %-12s %s", context, price, strings.Join(marks, " ")), " ")
}

// tokens writes a context window: 200k, 1M.
func tokens(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 < 50_000:
		return strconv.FormatFloat(float64(n/100_000)/10, 'f', -1, 64) + "M"
	case n >= 1000:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(n)
}

func money(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }

func (m *model) toModel(name string) tea.Cmd {
	if name == m.info.Model {
		m.say("this is the model already")
		return nil
	}
	return m.leaveFor(port.Next{Session: m.info.Session, Model: name})
}
