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

// Set is an immutable, ordered selection of initialized tools. It is safe for concurrent use.
type Set struct {
	order  []*initTool
	silent []*initTool // Unoffered ones
	byName map[string]*initTool
	roster func() *roster // built at the first call with an unknown name
	digest func() string
}

// newSet returns an empty Set to be filled before use.
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

// add keeps an alias's first owner; sets made by Tools have no duplicates.
func (s *Set) add(e *initTool) {
	if e.unoffered {
		s.silent = append(s.silent, e)
	} else {
		s.order = append(s.order, e)
	}
	s.byName[e.def.Name] = e
}

// Definitions returns copies of all offered definitions, in order.
func (s *Set) Definitions() []Definition {
	out := make([]Definition, len(s.order))
	for i, e := range s.order {
		out[i] = e.def.Clone()
	}
	return out
}

// Names lists the offered tools, in order.
func (s *Set) Names() []string {
	out := make([]string, len(s.order))
	for i, e := range s.order {
		out[i] = e.def.Name
	}
	return out
}

// Get returns a copy of one definition, also of an Unoffered tool.
func (s *Set) Get(name string) (Definition, bool) {
	e, ok := s.byName[name]
	if !ok {
		return Definition{}, false
	}
	return e.def.Clone(), true
}

// Has reports whether the set has a tool with this name, Unoffered or not.
func (s *Set) Has(name string) bool { return s.byName[name] != nil }

// SideEffects reports whether the tool declares that it may change something, and whether it
// exists.
func (s *Set) SideEffects(name string) (declared, known bool) {
	e, known := s.byName[name]
	return known && e.def.Permissions.SideEffects(), known
}

// Only returns the Set of tools that keep accepts.
func (s *Set) Only(keep func(Definition) bool) *Set {
	return s.filter(func(e *initTool) bool { return keep(e.def.Clone()) })
}

// Named returns the Set of tools whose names keep accepts.
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

// Digest identifies the selection: the hexadecimal SHA-256 of its definitions in order.
func (s *Set) Digest() string { return s.digest() }

func (s *Set) sum() string {
	list := make([]byte, 0, len(s.order)*(2*sha256.Size+1))
	for _, e := range s.order {
		list = append(append(list, e.def.Digest...), '\n')
	}
	sum := sha256.Sum256(list)
	return hex.EncodeToString(sum[:])
}

// Blocks draws the metadata of a tool's call; an unknown tool gets the generic view.
func (s *Set) Blocks(name string, metadata json.RawMessage) []Block {
	if e, ok := s.byName[name]; ok {
		return e.view(metadata)
	}
	return fallbackView(metadata)
}

// Redact returns the metadata that a tool allows to be logged; nothing for an unknown tool.
func (s *Set) Redact(name string, metadata json.RawMessage) json.RawMessage {
	if e, ok := s.byName[name]; ok {
		return e.redact.Apply(metadata)
	}
	return json.RawMessage(`{}`)
}

// A Verb is another assistant's name for several tools in one, selected by an argument:
// str_replace_editor with command view is one tool, with command create another.
type Verb struct{ Name, Argument, Value string }

type roster struct {
	aliases map[string]string // an alias's first owner keeps it
	// The folded maps ignore case and separators; "" marks an ambiguous name.
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
	for _, other := range p.compat.Similar {
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

// find returns the tool meant by name, or "" if there is none or several. Real names precede
// aliases, and exact names those in another case.
func (n *roster) find(name string) string {
	if owner, ok := n.aliases[name]; ok {
		return owner
	}
	if owner, ok := n.foldedNames[fuzzy.Fold(name)]; ok {
		return owner
	}
	return n.foldedAliases[fuzzy.Fold(name)]
}

// verb returns the tool that arguments select among those with one name.
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

// mostPrefixed limits names tried without their prefix, in bytes.
const mostPrefixed = 200

// unprefixed removes the prefix that models were trained to write before a function's name, and the
// number that some append: functions.read:0 becomes read.
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

// lookup finds a tool by its name or by another assistant's name, reported by alias. If a foreign
// name stands for several tools, the arguments select one.
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

// Resolve returns the tool that a model means by name, and false if there is none.
func (s *Set) Resolve(name string) (string, bool) {
	p, _ := s.lookup(name, "")
	if p == nil {
		return "", false
	}
	return p.def.Name, true
}

// instead suggests tools to call in place of an unknown name.
func (s *Set) instead(name string) string {
	if kin := s.roster().kin[fuzzy.Fold(unprefixed(cut(name, mostPrefixed)))]; kin != "" {
		return fmt.Sprintf("%s does such work, with arguments of its own", kin)
	}
	if near := Nearest(name, s.Names(), 3); len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	return "use one of: " + strings.Join(s.Names(), ", ")
}

// Nearest returns up to n candidates that resemble name, best first, for "did you mean".
func Nearest(name string, candidates []string, n int) []string {
	return fuzzy.Names(name, candidates, n)
}
