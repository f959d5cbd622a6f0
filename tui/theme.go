package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/draw"
	"adze/tui/list"
)

// colours are which colours are in use and why.
type colours struct {
	name   string // of the theme
	ground draw.Ground
	env    func(string) string
}

func coloursOf(o Options) colours {
	return colours{name: cmp.Or(o.Theme, draw.Themes()[0]), ground: draw.GroundOf(o.Env), env: o.Env}
}

// theme is made once for a model; later ones change it in place.
func (c colours) theme() *draw.Theme { return draw.Choose(c.name, c.env, c.ground) }

// askGround asks the terminal for its background where the theme depends on it. Nothing waits for
// the answer.
func (m *model) askGround() tea.Cmd {
	if !draw.Asks(m.colours.name, m.colours.env) {
		return nil
	}
	return func() tea.Msg { m.askBackground(); return nil }
}

// grounded takes the terminal's answer.
func (m *model) grounded(dark bool) {
	m.colours.ground = draw.LightGround
	if dark {
		m.colours.ground = draw.DarkGround
	}
	m.restyle()
}

// restyle has everything drawn in the theme of m.colours from now on.
func (m *model) restyle() {
	m.draw.Theme.Become(m.colours.theme())
	m.transcript.ForgetAll()
	m.activity.Forget()
	m.changes.Forget()
}

// themeCommand changes the theme, or asks which one.
func (m *model) themeCommand(arg string) tea.Cmd {
	if arg == "" {
		return m.chooseTheme()
	}
	name, ok := named(arg, draw.Themes())
	if !ok {
		m.say("there is no theme " + arg + "; the themes are " + strings.Join(draw.Themes(), ", "))
		return nil
	}
	return m.toTheme(name)
}

func (m *model) chooseTheme() tea.Cmd {
	var items []list.Choice
	at := 0
	for i, name := range draw.Themes() {
		items = append(items, list.Choice{ID: name, Label: name, Note: draw.Means(name)})
		if name == m.colours.name {
			at = i
		}
	}
	m.picker.Begin("themes · now "+m.colours.name, items, func(c list.Choice) tea.Cmd { return m.toTheme(c.ID) })
	m.picker.Move(at)
	return nil
}

// toTheme changes the theme until the end of adze, and says how to keep it.
func (m *model) toTheme(name string) tea.Cmd {
	m.colours.name = name
	m.restyle()
	m.say("theme " + name)
	return tea.Batch(m.askGround(), keep(m, "interface.theme", name, writing(m, "interface.theme", name)))
}
