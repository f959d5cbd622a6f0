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

// command is what a prompt that begins with a slash does.
type command struct {
	name string
	args string // as help shows them
	help string
	// can says why the command does nothing now; nil, or an empty string: it does.
	can func() string
	do  func(arg string) tea.Cmd
	// hidden is not listed: another name serves, a key or a setting. It answers all the same.
	hidden bool
	// lines says that the argument may have several lines.
	lines bool
}

// commands is the table of commands: what completion shows and what send obeys.
func (m *model) commands() []command {
	var all []command
	for _, f := range m.sources {
		all = append(all, f.commands()...)
	}
	order := inOrder()
	slices.SortStableFunc(all, func(a, b command) int { return slices.Index(order, a.name) - slices.Index(order, b.name) })
	return all
}

// inOrder are the names of the commands, as completion and help show them.
func inOrder() []string {
	return strings.Fields("help sessions overview new model effort mode plan changes context compact claims evidence trust todos theme mouse inline vim copy commit merge attach edit" +
		" resume fork background rewind stage undo redo jobs servers abort clear quit")
}

// noArgs is a command that takes no argument.
func noArgs(do func() tea.Cmd) func(string) tea.Cmd {
	return func(string) tea.Cmd { return do() }
}

// commander obeys what is written after a slash.
type commander struct {
	host
	info   *Info
	prompt *prompt.Line
	table  []command
	send   func() tea.Cmd // what is in the prompt
}

// command runs a command; one that cannot be run stays in the prompt.
func (c *commander) command(name, arg string) tea.Cmd {
	full, w, ok := c.meant(name)
	switch {
	case !ok:
		if carried, is := c.begun(name); is {
			c.prompt.Set(strings.TrimSpace("/" + carried + " " + arg))
			return c.send()
		}
		c.say(c.unknown(name))
		return nil
	case w.says != "":
		return c.tell(w)
	}
	for _, own := range c.table {
		if own.name != full {
			continue
		}
		if own.can != nil {
			if why := own.can(); why != "" {
				c.say(why)
				return nil
			}
		}
		c.prompt.Clear()
		return own.do(arg)
	}
	return nil
}

// read takes a prompt that is a command apart. One of several lines is a command only where that
// takes them: else it is a message that begins with a path.
func (c *commander) read(text string) (name, arg string, ok bool) {
	if name, arg, ok = plain.Slash(text); ok {
		return name, arg, ok
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	name, arg, ok = plain.Slash(first)
	ok = ok && slices.ContainsFunc(c.table, func(own command) bool { return own.name == name && own.lines })
	return name, strings.TrimSpace(arg + "\n" + rest), ok
}

// choices are the completions of the beginning of a name. What is named whole comes first:
// enter takes the first.
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
	slices.SortStableFunc(out, func(a, b list.Choice) int { return whole(b.ID, start) - whole(a.ID, start) })
	return out
}

func (c *commander) names() (names []string) {
	for _, own := range c.table {
		names = append(names, own.name)
	}
	return names
}

// groups are what help lists of it.
func (c *commander) groups() []pane.Group {
	out := []pane.Group{{Title: "commands, written as a message", Found: true, Lines: c.lines()}}
	if lines := c.namedLines(); len(lines) > 0 {
		out = append(out, pane.Group{Title: "commands and skills, yours and of this project", Lines: lines, Found: true})
	}
	return out
}

// lines are what a prompt with a slash, an exclamation mark or an @ does.
func (c *commander) lines() []pane.Line {
	var out []pane.Line
	for _, own := range c.table {
		if own.hidden {
			continue
		}
		l := pane.Line{Names: strings.TrimSpace("/" + own.name + " " + own.args), Text: own.help}
		if own.can != nil {
			l.Why = own.can()
		}
		out = append(out, l)
	}
	return append(out,
		pane.Line{Names: "!command", Text: "run a command yourself; the agent sees what it printed"},
		pane.Line{Names: "@file", Text: "complete the name of a file"})
}

// agentChoices are the agents that a prompt can be addressed to.
func agentChoices(agents []api.Mode) (out []list.Choice) {
	for _, a := range agents {
		out = append(out, list.Choice{ID: "@" + a.Name, Label: "@" + a.Name, Note: a.Means})
	}
	return out
}

// whole is 1 for a name that is written out, else 0.
func whole(name, written string) int {
	if name == written {
		return 1
	}
	return 0
}

// CommandNames are the names that the interface has for itself.
func CommandNames() []string { return inOrder() }

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
