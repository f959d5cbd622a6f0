package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"adze/tui/draw"
	"adze/tui/list"
)

// colours are which colours are in use and why.
type colours struct {
	host
	name   string // of the theme
	ground draw.Ground
	env    func(string) string
	theme  *draw.Theme // made once; later ones change it in place
	picker *list.List
	keep   func(name, value string) tea.Cmd // offers to keep the choice
	query  func(background bool)            // asks the terminal about itself
	forget func()                           // has all be drawn anew
}

func newColours(o Options) *colours {
	c := &colours{name: cmp.Or(o.Theme, draw.Themes()[0]), ground: draw.GroundOf(o.Env), env: o.Env}
	c.theme = c.chosen()
	return c
}

func (c *colours) commands() []command {
	return []command{{name: "theme", args: "[name]", help: "the colours", do: c.command}}
}

func (c *colours) chosen() *draw.Theme { return draw.Choose(c.name, c.env, c.ground) }

// ask asks the terminal how it counts cells, and for its background where the theme depends on it.
// Nothing waits for the answers.
func (c *colours) ask() tea.Cmd {
	return func() tea.Msg { c.query(draw.Asks(c.name, c.env)); return nil }
}

// grounded takes the terminal's answer.
func (c *colours) grounded(dark bool) {
	c.ground = draw.LightGround
	if dark {
		c.ground = draw.DarkGround
	}
	c.restyle()
}

// counted takes the terminal's answer of how it counts cells.
func (c *colours) counted(r tea.ModeReportMsg) {
	if r.Mode == ansi.ModeUnicodeCore && c.theme.SetCells(draw.Cells(r.Value.IsSet())) {
		c.forget()
	}
}

// restyle has everything drawn in the chosen theme from now on.
func (c *colours) restyle() {
	c.theme.Become(c.chosen())
	c.forget()
}

// command changes the theme, or asks which one.
func (c *colours) command(arg string) tea.Cmd {
	if arg == "" {
		return c.choose()
	}
	name, ok := named(arg, draw.Themes())
	if !ok {
		c.say("there is no theme " + arg + "; the themes are " + strings.Join(draw.Themes(), ", "))
		return nil
	}
	return c.toTheme(name)
}

func (c *colours) choose() tea.Cmd {
	var items []list.Choice
	at := 0
	for i, name := range draw.Themes() {
		items = append(items, list.Choice{ID: name, Label: name, Note: draw.Means(name)})
		if name == c.name {
			at = i
		}
	}
	c.picker.Begin("themes · now "+c.name, items, func(it list.Choice) tea.Cmd { return c.toTheme(it.ID) })
	c.picker.Move(at)
	return nil
}

// toTheme changes the theme until the end of adze, and says how to keep it.
func (c *colours) toTheme(name string) tea.Cmd {
	c.name = name
	c.restyle()
	c.say("theme " + name)
	return tea.Batch(c.ask(), c.keep("interface.theme", name))
}
