package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/session/api"
	"adze/tui/list"
	"adze/tui/pane"
	"adze/tui/plain"
	"adze/tui/prompt"
)

// command is a slash command.
type command struct {
	name string
	args string // argument syntax for help
	help string
	// can returns why the command is unavailable, or "". A nil can means always available.
	can func() string
	run func(arg string) tea.Cmd
	// hidden leaves the command out of lists, because another name, key or setting does the same.
	// It still works.
	hidden bool
	// lines permits an argument with several lines.
	lines bool
}

// commands returns the command table, used by completion, help and send.
func (m *model) commands() []command {
	var all []command
	for _, f := range m.sources {
		all = append(all, f.commands()...)
	}
	order := inOrder()
	slices.SortStableFunc(all, func(a, b command) int { return slices.Index(order, a.name) - slices.Index(order, b.name) })
	return all
}

// inOrder returns the command names in the order of completion and help.
func inOrder() []string {
	return strings.Fields("help sessions overview new model effort mode plan changes context compact claims evidence trust todos theme mouse inline vim copy commit merge attach edit" +
		" resume fork background rewind stage undo redo jobs servers abort clear quit")
}

// noArgs adapts a function to a command without an argument.
func noArgs(do func() tea.Cmd) func(string) tea.Cmd {
	return func(string) tea.Cmd { return do() }
}

// commander runs slash commands.
type commander struct {
	host
	info   *Info
	prompt *prompt.Line
	table  []command
	send   func() tea.Cmd // sends the prompt
}

// command runs a command. If it cannot run, the text stays in the prompt.
func (c *commander) command(name, arg string) tea.Cmd {
	full, w, ok := c.resolve(name)
	switch {
	case !ok:
		if carried, is := c.begun(name); is {
			c.prompt.Set(strings.TrimSpace("/" + carried + " " + arg))
			return c.send()
		}
		c.showMessage(c.unknown(name))
		return nil
	case w.explanation != "":
		return c.tell(w)
	}
	for _, own := range c.table {
		if own.name != full {
			continue
		}
		if own.can != nil {
			if why := own.can(); why != "" {
				c.showMessage(why)
				return nil
			}
		}
		c.prompt.Clear()
		return own.run(arg)
	}
	return nil
}

// read parses a prompt as a command. Text with several lines is a command only if that command
// accepts them; otherwise it is a message that begins with a path.
func (c *commander) read(text string) (name, arg string, ok bool) {
	if name, arg, ok = plain.Slash(text); ok {
		return name, arg, ok
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	name, arg, ok = plain.Slash(first)
	ok = ok && slices.ContainsFunc(c.table, func(own command) bool { return own.name == name && own.lines })
	return name, strings.TrimSpace(arg + "\n" + rest), ok
}

// choices returns the completions for a name's beginning. An exact match comes first, because Enter
// takes the first entry.
func (c *commander) choices(start string) []list.Choice {
	var out []list.Choice
	for _, own := range c.table {
		if !strings.HasPrefix(own.name, start) || own.hidden && own.name != start {
			continue
		}
		note := own.help
		if own.can != nil {
			if why := own.can(); why != "" {
				note += " (not now: " + why + ")"
			}
		}
		out = append(out, list.Choice{ID: own.name, Label: strings.TrimSpace("/" + own.name + " " + own.args), Note: note})
	}
	out = slices.Concat(out, c.namedChoices(start), c.wordChoices(start))
	isWhole := func(c list.Choice) bool { return c.ID == start }
	return append(slices.DeleteFunc(slices.Clone(out), func(c list.Choice) bool { return !isWhole(c) }), slices.DeleteFunc(out, isWhole)...)
}

func (c *commander) names() (names []string) {
	for _, own := range c.table {
		names = append(names, own.name)
	}
	return names
}

// groups returns the command sections of help.
func (c *commander) groups() []pane.Group {
	out := []pane.Group{{Title: "commands, written as a message", Found: true, Lines: c.lines()}}
	if lines := c.namedLines(); len(lines) > 0 {
		out = append(out, pane.Group{Title: "commands and skills, yours and of this project", Lines: lines, Found: true})
	}
	return out
}

// lines returns the help lines for the prefixes "/", "!" and "@".
func (c *commander) lines() []pane.Line {
	var out []pane.Line
	for _, own := range c.table {
		if own.hidden {
			continue
		}
		l := pane.Line{Names: strings.TrimSpace("/" + own.name + " " + own.args), Text: own.help}
		if own.can != nil {
			l.Reason = own.can()
		}
		out = append(out, l)
	}
	return append(out,
		pane.Line{Names: "!command", Text: "run a command yourself; the agent sees what it printed"},
		pane.Line{Names: "@file", Text: "complete the name of a file"})
}

// agentChoices returns completions for the agents that a prompt can address.
func agentChoices(agents []api.Mode) (out []list.Choice) {
	for _, a := range agents {
		out = append(out, list.Choice{ID: "@" + a.Name, Label: "@" + a.Name, Note: a.Means})
	}
	return out
}

// CommandNames returns the interface's own command names.
func CommandNames() []string { return inOrder() }

// named finds arg in names: an exact match, or the only name that begins with it.
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
