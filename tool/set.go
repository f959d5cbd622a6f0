package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/tool/fuzzy"
	"adze/tool/laxjson"
)

// Set is an immutable selection of initialised tools, in order. It is safe for concurrent use.
type Set struct {
	order  []*initTool
	silent []*initTool // Unoffered ones
	byName map[string]*initTool
	roster func() *roster // made at the first call of a tool by another name
	digest func() string
}

// newSet makes one that is filled before anybody has it.
func newSet(room int) *Set {
	s := &Set{byName: make(map[string]*initTool, room), order: make([]*initTool, 0, room)}
	s.digest = sync.OnceValue(s.sum)
	s.roster = sync.OnceValue(func() *roster {
		r := roster{aliases: map[string]string{}, foldedNames: map[string]string{}, foldedAliases: map[string]string{}, kin: map[string]string{}}
		for _, e := range slices.Concat(s.order, s.silent) {
			r.add(e)
		}
		return &r
	})
	return s
}

// add keeps the first owner of an alias; there is no second one in what Tools makes.
func (s *Set) add(e *initTool) {
	if e.unoffered {
		s.silent = append(s.silent, e)
	} else {
		s.order = append(s.order, e)
	}
	s.byName[e.def.Name] = e
}

// Definitions returns copies of all definitions that are offered, in order.
func (s *Set) Definitions() []Definition {
	out := make([]Definition, len(s.order))
	for i, e := range s.order {
		out[i] = e.def.Clone()
	}
	return out
}

// Names lists the tools that are offered, in order.
func (s *Set) Names() []string {
	out := make([]string, len(s.order))
	for i, e := range s.order {
		out[i] = e.def.Name
	}
	return out
}

// Get returns a copy of one definition, of an Unoffered tool too.
func (s *Set) Get(name string) (Definition, bool) {
	e, ok := s.byName[name]
	if !ok {
		return Definition{}, false
	}
	return e.def.Clone(), true
}

// Has reports whether there is a tool of a name, Unoffered or not.
func (s *Set) Has(name string) bool { return s.byName[name] != nil }

// SideEffects reports whether the tool of that name declares that it may change something, and
// whether there is one.
func (s *Set) SideEffects(name string) (declared, known bool) {
	e, known := s.byName[name]
	return known && e.def.Permissions.SideEffects(), known
}

// Only returns the Set of those tools that keep accepts.
func (s *Set) Only(keep func(Definition) bool) *Set {
	return s.filter(func(e *initTool) bool { return keep(e.def.Clone()) })
}

// Named returns the Set of those tools whose names keep accepts.
func (s *Set) Named(keep func(name string) bool) *Set {
	return s.filter(func(e *initTool) bool { return keep(e.def.Name) })
}

func (s *Set) filter(keep func(*initTool) bool) *Set {
	var kept []*initTool
	for _, e := range slices.Concat(s.order, s.silent) {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	out := newSet(len(kept))
	for _, e := range kept {
		out.add(e)
	}
	return out
}

// Digest names the selection: the SHA-256 of its definitions in order, in hexadecimal.
func (s *Set) Digest() string { return s.digest() }

func (s *Set) sum() string {
	list := make([]byte, 0, len(s.order)*(2*sha256.Size+1))
	for _, e := range s.order {
		list = append(append(list, e.def.Digest...), '\n')
	}
	sum := sha256.Sum256(list)
	return hex.EncodeToString(sum[:])
}

// Blocks draws the metadata of a tool's call; a tool that is not in the set gets the generic view.
func (s *Set) Blocks(name string, metadata json.RawMessage) []Block {
	if e, ok := s.byName[name]; ok {
		return e.view(metadata)
	}
	return fallbackView(metadata)
}

// Redact keeps of a call's metadata what its tool lets be logged; of an unknown tool nothing.
func (s *Set) Redact(name string, metadata json.RawMessage) json.RawMessage {
	if e, ok := s.byName[name]; ok {
		return e.redact.Apply(metadata)
	}
	return json.RawMessage(`{}`)
}

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

func (n *roster) add(p *initTool) {
	name := p.def.Name
	claim(n.foldedNames, fuzzy.Fold(name), name)
	for _, alias := range p.def.Aliases {
		if _, taken := n.aliases[alias]; !taken {
			n.aliases[alias] = name
			claim(n.foldedAliases, fuzzy.Fold(alias), name)
		}
	}
	for _, v := range p.compat.Verbs {
		n.verbs = append(n.verbs, verb{v, name})
	}
	for _, other := range p.compat.Kin {
		if _, taken := n.kin[fuzzy.Fold(other)]; !taken {
			n.kin[fuzzy.Fold(other)] = name
		}
	}
}

func claim(owners map[string]string, key, name string) {
	if owner, taken := owners[key]; taken && owner != name {
		name = ""
	}
	owners[key] = name
}

// find is the name of the tool that is meant; "" where there is none, or more than one. A real name
// wins over an alias, and both as they are written over another case.
func (n *roster) find(name string) string {
	if owner, ok := n.aliases[name]; ok {
		return owner
	}
	if owner, ok := n.foldedNames[fuzzy.Fold(name)]; ok {
		return owner
	}
	return n.foldedAliases[fuzzy.Fold(name)]
}

// verb is the tool that arguments choose among those of one name.
func (n *roster) verb(name, arguments string) string {
	if !slices.ContainsFunc(n.verbs, func(v verb) bool { return fuzzy.Fold(v.Name) == fuzzy.Fold(name) }) {
		return ""
	}
	var did laxjson.Steps
	root, ok := laxjson.Read(arguments, &did)
	if !ok || root.Kind != laxjson.Object {
		return ""
	}
	for _, v := range n.verbs {
		if at := root.Child(v.Argument); fuzzy.Fold(v.Name) == fuzzy.Fold(name) && at != nil && at.Kind == laxjson.String && at.Text == v.Value {
			return v.tool
		}
	}
	return ""
}

// mostPrefixed bounds the names that are looked at without their prefix, in bytes.
const mostPrefixed = 200

// unprefixed takes off what models were trained to write before a function's name, and the number
// that some write behind it: functions.read:0 is read.
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

// lookup finds a tool by its name, or by what other assistants call it; alias reports the latter.
// Arguments choose where one foreign name stands for several tools.
func (s *Set) lookup(name, arguments string) (p *initTool, alias bool) {
	if e, ok := s.byName[name]; ok {
		return e, false
	}
	for _, written := range []string{name, unprefixed(name)} {
		if e, ok := s.byName[written]; ok {
			return e, true
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
	if kin := s.roster().kin[fuzzy.Fold(unprefixed(cut(name, mostPrefixed)))]; kin != "" {
		return fmt.Sprintf("%s does such work, with arguments of its own", kin)
	}
	if near := Nearest(name, s.Names(), 3); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "use one of: " + strings.Join(s.Names(), ", ")
}

// Nearest returns up to n candidates that look like name, best first: for "did you mean".
func Nearest(name string, candidates []string, n int) []string {
	return fuzzy.Names(name, candidates, n)
}
