package tui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"adze/tui/draw"
	"adze/tui/list"
)

// colours handles the theme.
type colours struct {
	host
	name   string // of the theme
	ground draw.Background
	env    func(string) string
	theme  *draw.Theme // allocated once and changed in place
	picker *list.List
	keep   func(name, value string) tea.Cmd // offers to save the setting
	query  func(background bool)            // queries the terminal
	forget func()                           // drops cached rows
}

func newColours(o Options) *colours {
	c := &colours{name: cmp.Or(o.Theme, draw.Themes()[0]), ground: draw.GroundOf(o.Env), env: o.Env}
	c.theme = c.chosen()
	return c
}

func (c *colours) commands() []command {
	return []command{{name: "theme", args: "[name]", help: "the colours", run: c.command}}
}

func (c *colours) chosen() *draw.Theme { return draw.Choose(c.name, c.env, c.ground) }

// ask queries the terminal's cell widths, and its background if the theme depends on it. It does
// not wait for the answers.
func (c *colours) ask() tea.Cmd {
	return func() tea.Msg { c.query(draw.Asks(c.name, c.env)); return nil }
}

// grounded handles the answer about the background.
func (c *colours) grounded(dark bool) {
	c.ground = draw.LightGround
	if dark {
		c.ground = draw.DarkGround
	}
	c.restyle()
}

// counted handles the answer about cell widths.
func (c *colours) counted(r tea.ModeReportMsg) {
	if r.Mode == ansi.ModeUnicodeCore && c.theme.SetCells(draw.Cells(r.Value.IsSet())) {
		c.forget()
	}
}

// restyle applies the chosen theme.
func (c *colours) restyle() {
	c.theme.CopyFrom(c.chosen())
	c.forget()
}

// command changes the theme, or lists the themes.
func (c *colours) command(arg string) tea.Cmd {
	if arg == "" {
		return c.choose()
	}
	name, ok := named(arg, draw.Themes())
	if !ok {
		c.showMessage("there is no theme " + arg + "; the themes are " + strings.Join(draw.Themes(), ", "))
		return nil
	}
	return c.toTheme(name)
}

func (c *colours) choose() tea.Cmd {
	var items []list.Choice
	at := 0
	for i, name := range draw.Themes() {
		items = append(items, list.Choice{ID: name, Label: name, Note: draw.ThemeDescription(name)})
		if name == c.name {
			at = i
		}
	}
	c.picker.Begin("themes · now "+c.name, items, func(it list.Choice) tea.Cmd { return c.toTheme(it.ID) })
	c.picker.Move(at)
	return nil
}

// toTheme changes the theme and offers to save it.
func (c *colours) toTheme(name string) tea.Cmd {
	c.name = name
	c.restyle()
	c.showMessage("theme " + name)
	return tea.Batch(c.ask(), c.keep("interface.theme", name))
}
