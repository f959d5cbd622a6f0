package tool

import (
	"errors"
	"fmt"
	"strings"
)

// fill replaces ${name} in a description. An unknown name is an error by the author. Other dollars
// stay, such as $HOME and $5, and $${name} writes ${name}.
func fill(text string, in Init) (string, error) {
	var b strings.Builder
	var unknown error
	for {
		before, after, found := strings.Cut(text, "${")
		if !found {
			b.WriteString(text)
			return b.String(), unknown
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed {
			return "", errors.Join(unknown, errors.New("description: ${ without }"))
		}
		text = rest
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			b.WriteString(literal + "${" + name + "}")
			continue
		}
		value, ok := in.variable(name)
		if !ok {
			unknown = errors.Join(unknown, fmt.Errorf("description: unknown variable ${%s}", name))
		}
		b.WriteString(before + value)
	}
}

// variable finds a name in Vars, then among the directories.
func (in Init) variable(name string) (string, bool) {
	if value, ok := in.Vars[name]; ok {
		return value, true
	}
	switch name {
	case "workspace":
		return in.Workspace, true
	case "directory":
		return in.Directory, true
	case "cwd":
		return in.Cwd, true
	}
	return "", false
}
