package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/tui/draw"
)

// look is which colours are in use and why.
type look struct {
	name   string // of the theme
	ground draw.Ground
	env    func(string) string
}

func lookOf(o Options) look {
	return look{name: cmp.Or(o.Theme, draw.Themes()[0]), ground: draw.GroundOf(o.Env), env: o.Env}
}

// theme is made once for a model; later looks change it in place.
func (l look) theme() *draw.Theme { return draw.Choose(l.name, l.env, l.ground) }

// askGround asks the terminal for its background where the theme depends on it. Nothing waits for the answer.
func (m *model) askGround() tea.Cmd {
	if !draw.Asks(m.look.name, m.look.env) {
		return nil
	}
	return func() tea.Msg { m.askBackground(); return nil }
}

// grounded takes the terminal's answer.
func (m *model) grounded(dark bool) {
	m.look.ground = draw.LightGround
	if dark {
		m.look.ground = draw.DarkGround
	}
	m.restyle()
}

// restyle has everything drawn in the theme of m.look from now on.
func (m *model) restyle() {
	m.draw.theme.Become(m.look.theme())
	m.transcript.forgetAll()
	for _, c := range m.activity.running {
		c.tail = nil
	}
	m.changes.rows = nil
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
	var items []choice
	at := 0
	for i, name := range draw.Themes() {
		items = append(items, choice{id: name, label: name, note: draw.Means(name)})
		if name == m.look.name {
			at = i
		}
	}
	m.picker.begin("themes · now "+m.look.name, items, func(c choice) tea.Cmd { return m.toTheme(c.id) })
	m.picker.move(at)
	return nil
}

// toTheme changes the theme until the end of adze, and says how to keep it.
func (m *model) toTheme(name string) tea.Cmd {
	m.look.name = name
	m.restyle()
	m.say(`theme ` + name + `; to keep it: "interface": {"theme": "` + name + `"} in ` + cmp.Or(m.info.Config, "the configuration"))
	return m.askGround()
}
