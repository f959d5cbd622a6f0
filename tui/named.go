package tui

import (
	"slices"
	"strings"

	"adze/tui/choose"
	"adze/tui/pane"
	"adze/tui/plain"
	"adze/tui/port"
)

// carries reports a name of what the person or the project carries; the interface's own names come first.
func carries(m *model, name string) bool {
	return !slices.Contains(commandNames(), name) && slices.ContainsFunc(m.info.Commands, func(n port.Named) bool { return n.Name == name })
}

// names reports a message that begins with such a name: it is sent as it is, and goes its way as every message does.
func names(m *model, text string) bool {
	name, _, ok := plain.Slash(text)
	return ok && carries(m, name)
}

// begun is the one name that is carried and begins like this.
func begun(m *model, name string) (string, bool) {
	var all []string
	for _, n := range m.info.Commands {
		all = append(all, n.Name)
	}
	return named(name, all)
}

// namedChoices are the completions of the beginning of a name that is carried, with what it does and where it stands.
func namedChoices(m *model, start string) (out []choose.Choice) {
	for _, n := range m.info.Commands {
		if strings.HasPrefix(n.Name, start) && carries(m, n.Name) {
			out = append(out, choose.Choice{ID: n.Name, Label: strings.TrimSpace("/" + n.Name + " " + n.Args), Note: n.Note()})
		}
	}
	return out
}

// namedLines tell in help what is carried.
func namedLines(m *model) (out []pane.Line) {
	for _, n := range m.info.Commands {
		out = append(out, pane.Line{Names: strings.TrimSpace("/" + n.Name + " " + n.Args), Text: n.Note()})
	}
	return out
}
