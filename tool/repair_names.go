package tool

import (
	"maps"
	"slices"
	"strings"
)

// rename gives properties the names of the schema: aliases that the author declared, and what differs only
// in case and separators. Two candidates for one name, or a name that is there already, leave all as it is.
func (m *mender) rename(v *tree, s *shape, aliases map[string]string) {
	targets, claims := make([]string, len(v.names)), map[string]int{}
	for i, name := range v.names {
		if _, known := s.properties[name]; !known {
			targets[i] = realName(name, s, aliases)
			claims[targets[i]]++
		}
	}
	for i, target := range targets {
		if target == "" || claims[target] > 1 || v.has(target) {
			continue
		}
		step := stepAlias
		if fold(v.names[i]) == fold(target) {
			step = stepName
		}
		v.names[i] = target
		m.did.did(step)
	}
}

// aliasesIn are the declared aliases of names that an object below the top has as well: who writes oldText for
// old_string does so in a list of edits too.
func (m *mender) aliasesIn(s *shape, path string) map[string]string {
	if !s.closed() {
		return nil
	}
	found := map[string]string{}
	for alias, target := range m.prepared.argAliases {
		if in, name, nested := strings.Cut(alias, "/"); nested && in == place(path) {
			alias = name
		}
		if _, known := s.properties[target]; known {
			found[alias] = target
		}
	}
	return found
}

// realName finds the property that an unknown name stands for; "" where there is none or more than one. In
// an object that takes any name a variant may be meant as it is, unless the property is required.
func realName(name string, s *shape, aliases map[string]string) string {
	if target, ok := aliases[name]; ok {
		return target
	}
	found := map[string]bool{}
	for known := range s.properties {
		if fold(known) == fold(name) && (s.closed() || slices.Contains(s.required, any(known))) {
			found[known] = true
		}
	}
	for alias, target := range aliases {
		if fold(alias) == fold(name) {
			found[target] = true
		}
	}
	if len(found) != 1 {
		return ""
	}
	return slices.Sorted(maps.Keys(found))[0]
}

// drop leaves out what cannot change the meaning of a call: null where a property is optional, and unknown
// properties that are empty or only talk about the call. Any other unknown property is refused: dry_run
// without effect would be the opposite of what was asked.
func (m *mender) drop(v *tree, s *shape, path string) {
	names, items := v.names[:0:0], v.items[:0:0]
	for i, name := range v.names {
		step := m.pointless(name, v.items[i], s)
		if step == "" {
			names, items = append(names, name), append(items, v.items[i])
			continue
		}
		m.did.did(step)
		m.did.drop(path + "/" + pointer(name))
	}
	v.names, v.items = names, items
}

// pointless names the step that drops a property; "" where it stays.
func (m *mender) pointless(name string, value *tree, s *shape) string {
	schema, known := s.properties[name]
	switch {
	case known && value.isNull() && !slices.Contains(s.required, any(name)) && !m.shapes.of(schema).takes("null"):
		return stepNull
	case !known && s.closed() && m.meansNothing(name, value, s):
		return stepUnknown
	}
	return ""
}

// meansNothing reports whether an unknown property can go. One that resembles a known name can not: the
// known one may be meant.
func (m *mender) meansNothing(name string, value *tree, s *shape) bool {
	if len(Nearest(name, slices.Sorted(maps.Keys(s.properties)), 1)) > 0 || realName(name, s, m.prepared.argAliases) != "" {
		return false
	}
	return value.empty() || value.kind == stringTree && m.remark(name)
}

// remark knows the names under which models say why they make a call. Some of them may be content, such as
// the description of an issue, and go only where a call changes nothing.
func (m *mender) remark(name string) bool {
	switch fold(name) {
	case "explanation", "reasoning", "rationale", "justification", "thought", "thoughts":
		return true
	case "description", "reason", "comment":
		p := m.prepared.def.Permissions
		return !slices.ContainsFunc(slices.Concat(p.Required, p.Optional), func(q Permission) bool { return q != Read })
	}
	return false
}

// unwrap takes the arguments out of an envelope that names this very tool, or none.
func (m *mender) unwrap(v *tree, s *shape) {
	var inner *tree
	for i, name := range v.names {
		_, known := s.properties[name]
		switch {
		case known || !s.closed():
			return
		case inner == nil && slices.Contains([]string{"arguments", "parameters", "args", "input"}, name):
			inner = v.items[i]
		case !m.addresses(name, v.items[i]):
			return
		}
	}
	if inner == nil {
		return
	}
	if inner.kind == stringTree {
		m.decode(inner, &shape{types: []string{"object"}})
	}
	if inner.kind == objectTree {
		*v = *inner
		m.did.did(stepWrapped)
	}
}

// addresses reports whether a property of an envelope says what the call says already.
func (m *mender) addresses(name string, value *tree) bool {
	switch name {
	case "type":
		return value.kind == stringTree && value.text == "function"
	case "name", "tool", "tool_name", "function":
		d := m.prepared.def
		return value.kind == stringTree && (fold(value.text) == fold(d.Name) || slices.Contains(d.Aliases, value.text))
	}
	return false
}
