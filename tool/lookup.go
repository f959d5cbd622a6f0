package tool

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool/loose"
	"adze/tool/nearest"
)

// Verb is a name under which another assistant has several tools in one, told apart by an argument:
// str_replace_editor with command view is one tool, with command create another.
type Verb struct{ Name, Argument, Value string }

// roster finds tools by what models call them.
type roster struct {
	aliases map[string]string // the first owner of an alias keeps it
	// folded has real names and aliases without case and separators; "" where two tools share one.
	foldedNames, foldedAliases map[string]string
	verbs                      []verb
	kin                        map[string]string
}

type verb struct {
	Verb
	tool string
}

func newRoster() roster {
	return roster{aliases: map[string]string{}, foldedNames: map[string]string{}, foldedAliases: map[string]string{}, kin: map[string]string{}}
}

func (n *roster) add(p *prepared) {
	name := p.def.Name
	claim(n.foldedNames, nearest.Fold(name), name)
	for _, alias := range p.def.Aliases {
		if _, taken := n.aliases[alias]; !taken {
			n.aliases[alias] = name
			claim(n.foldedAliases, nearest.Fold(alias), name)
		}
	}
	for _, v := range p.verbs {
		n.verbs = append(n.verbs, verb{v, name})
	}
	for _, other := range p.kin {
		if _, taken := n.kin[nearest.Fold(other)]; !taken {
			n.kin[nearest.Fold(other)] = name
		}
	}
}

func claim(owners map[string]string, key, name string) {
	if owner, taken := owners[key]; taken && owner != name {
		name = ""
	}
	owners[key] = name
}

// find is the name of the tool that is meant; "" where there is none, or more than one. A real name wins over
// an alias, and both as they are written over another case.
func (n *roster) find(name string) string {
	if owner, ok := n.aliases[name]; ok {
		return owner
	}
	if owner, ok := n.foldedNames[nearest.Fold(name)]; ok {
		return owner
	}
	return n.foldedAliases[nearest.Fold(name)]
}

// verb is the tool that arguments choose among those of one name.
func (n *roster) verb(name, arguments string) string {
	if !slices.ContainsFunc(n.verbs, func(v verb) bool { return nearest.Fold(v.Name) == nearest.Fold(name) }) {
		return ""
	}
	var did loose.Steps
	root, ok := loose.Read(arguments, &did)
	if !ok || root.Kind != loose.Object {
		return ""
	}
	for _, v := range n.verbs {
		if at := root.Child(v.Argument); nearest.Fold(v.Name) == nearest.Fold(name) && at != nil && at.Kind == loose.String && at.Text == v.Value {
			return v.tool
		}
	}
	return ""
}

// mostPrefixed bounds the names that are looked at without their prefix, in bytes.
const mostPrefixed = 200

// unprefixed takes off what models were trained to write before a function's name, and the number that some
// write behind it: functions.read:0 is read.
func unprefixed(name string) string {
	if len(name) > mostPrefixed {
		return name
	}
	for _, prefix := range []string{"functions", "function", "tools", "tool", "default_api", "namespace"} {
		if len(name) > len(prefix)+1 && strings.EqualFold(name[:len(prefix)], prefix) && strings.IndexByte(".:", name[len(prefix)]) >= 0 {
			name = name[len(prefix)+1:]
		}
	}
	if at := strings.LastIndexByte(name, ':'); at > 0 && at < len(name)-1 && strings.Trim(name[at+1:], "0123456789") == "" {
		name = name[:at]
	}
	return name
}

// lookup finds a tool by its name, or by what other assistants call it; alias reports the latter. Arguments
// choose where one foreign name stands for several tools.
func (s *Set) lookup(name, arguments string) (p *prepared, alias bool) {
	if p, ok := s.byName[name]; ok {
		return p, false
	}
	for _, written := range []string{name, unprefixed(name)} {
		if p, ok := s.byName[written]; ok {
			return p, true
		}
		if owner := s.roster().find(written); owner != "" {
			return s.byName[owner], true
		}
		if owner := s.roster().verb(written, arguments); owner != "" {
			return s.byName[owner], true
		}
	}
	return nil, false
}

// Resolve is the name of the tool that a model means by name; false where there is none.
func (s *Set) Resolve(name string) (string, bool) {
	p, _ := s.lookup(name, "")
	if p == nil {
		return "", false
	}
	return p.def.Name, true
}

// instead says what to call where there is no tool of a name.
func (s *Set) instead(name string) string {
	if kin := s.roster().kin[nearest.Fold(unprefixed(cut(name, mostPrefixed)))]; kin != "" {
		return fmt.Sprintf("%s does such work, with arguments of its own", kin)
	}
	if near := Nearest(name, s.Names(), 3); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "use one of: " + strings.Join(s.Names(), ", ")
}

// Nearest returns up to n candidates that look like name, best first: for "did you mean".
func Nearest(name string, candidates []string, n int) []string {
	return nearest.Names(name, candidates, n)
}
