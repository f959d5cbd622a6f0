package tool

import (
	"maps"
	"slices"
	"strings"

	"adze/tool/fuzzy"
	"adze/tool/laxjson"
	"adze/tool/schema"
)

// rename renames properties to the schema's names: declared aliases, and variants in case and
// separators. If two match one name, or the name is already there, nothing changes.
func (m *mender) rename(v *laxjson.Tree, s *schema.Shape, aliases map[string]string) {
	targets, claims := make([]string, len(v.Names)), map[string]int{}
	for i, name := range v.Names {
		if _, known := s.Properties[name]; !known {
			targets[i] = realName(name, s, aliases)
			claims[targets[i]]++
		}
	}
	for i, target := range targets {
		if target == "" || claims[target] > 1 || v.Has(target) {
			continue
		}
		step := stepAlias
		if fuzzy.Fold(v.Names[i]) == fuzzy.Fold(target) {
			step = stepName
		}
		v.Names[i] = target
		m.fixes.addFix(step)
	}
}

// aliasesIn returns the declared aliases whose names also occur in an object below the top: models
// write oldText for old_string in a list of edits too.
func (m *mender) aliasesIn(s *schema.Shape, path string) map[string]string {
	if !s.Closed() {
		return nil
	}
	found := map[string]string{}
	for alias, target := range m.prepared.compat.Args {
		if in, name, nested := strings.Cut(alias, "/"); nested && in == place(path) {
			alias = name
		}
		if _, known := s.Properties[target]; known {
			found[alias] = target
		}
	}
	return found
}

// realName finds the property meant by an unknown name, or "" if there is none or several. In an
// object that allows any name a variant is kept, unless the property is required.
func realName(name string, s *schema.Shape, aliases map[string]string) string {
	if target, ok := aliases[name]; ok {
		return target
	}
	found := map[string]bool{}
	for known := range s.Properties {
		if fuzzy.Fold(known) == fuzzy.Fold(name) && (s.Closed() || slices.Contains(s.Required, any(known))) {
			found[known] = true
		}
	}
	for alias, target := range aliases {
		if fuzzy.Fold(alias) == fuzzy.Fold(name) {
			found[target] = true
		}
	}
	if len(found) != 1 {
		return ""
	}
	return slices.Sorted(maps.Keys(found))[0]
}

// drop removes properties that cannot change the call's meaning: null for optional ones, and
// unknown ones that are empty or comment on the call. Other unknown properties are refused:
// ignoring dry_run would reverse the request.
func (m *mender) drop(v *laxjson.Tree, s *schema.Shape, path string) {
	names, items := v.Names[:0:0], v.Items[:0:0]
	for i, name := range v.Names {
		step := m.pointless(name, v.Items[i], s)
		if step == "" {
			names, items = append(names, name), append(items, v.Items[i])
			continue
		}
		m.fixes.addFix(step)
		m.fixes.drop(path + "/" + schema.Pointer(name))
	}
	v.Names, v.Items = names, items
}

// pointless returns the step that drops a property, or "" to keep it.
func (m *mender) pointless(name string, value *laxjson.Tree, s *schema.Shape) string {
	schema, known := s.Properties[name]
	switch {
	case known && (value.Null() || m.none(value, schema)) && !slices.Contains(s.Required, any(name)) && !m.shapes.Of(schema).Takes("null"):
		return stepNull
	case !known && s.Closed() && m.meansNothing(name, value, s):
		return stepUnknown
	}
	return ""
}

// none reports whether a string means "no value" where no string fits.
func (m *mender) none(value *laxjson.Tree, schema any) bool {
	return value.Kind == laxjson.String && slices.Contains([]string{"", "null", "None", "undefined"}, value.Text) && !m.shapes.Of(schema).Takes("string")
}

// meansNothing reports whether an unknown property can be dropped. One that resembles a known name
// cannot, since that may be meant, nor one that the schema mentions elsewhere, where its presence
// has a meaning.
func (m *mender) meansNothing(name string, value *laxjson.Tree, s *schema.Shape) bool {
	if m.prepared.compat.ignores(name, value) && realName(name, s, m.prepared.compat.Args) == "" {
		return true
	}
	if s.Mentions(name) || len(Nearest(name, slices.Sorted(maps.Keys(s.Properties)), 1)) > 0 || realName(name, s, m.prepared.compat.Args) != "" {
		return false
	}
	return value.Empty() || m.addresses(name, value) || value.Kind == laxjson.String && m.remark(name)
}

// remark reports whether models use the name to explain a call. Some may be content, such as an
// issue's description, and are dropped only if the call changes nothing.
func (m *mender) remark(name string) bool {
	switch fuzzy.Fold(name) {
	case "explanation", "reasoning", "rationale", "justification", "thought", "thoughts", "thinking", "intent", "securityrisk", "taskprogress", "toolsummary",
		"toolaction":
		return true
	case "description", "reason", "comment":
		p := m.prepared.def.Permissions
		return !slices.ContainsFunc(slices.Concat(p.Required, p.Optional), func(q Permission) bool { return q != Read })
	}
	return false
}

// unwrap takes the arguments out of an envelope that names this tool or none.
func (m *mender) unwrap(v *laxjson.Tree, s *schema.Shape) {
	var inner *laxjson.Tree
	for i, name := range v.Names {
		_, known := s.Properties[name]
		switch {
		case known || !s.Closed():
			return
		case inner == nil && m.envelope(name, v.Items[i]):
			inner = v.Items[i]
		case !m.addresses(name, v.Items[i]):
			return
		}
	}
	if inner == nil {
		return
	}
	if inner.Kind == laxjson.String {
		m.decode(inner, &schema.Shape{Types: []string{"object"}})
	}
	if inner.Kind == laxjson.Object {
		*v = *inner
		m.fixes.addFix(stepWrapped)
	}
}

// envelope reports whether a property may hold the arguments: by a common name or the tool's name.
func (m *mender) envelope(name string, value *laxjson.Tree) bool {
	return slices.Contains([]string{"arguments", "parameters", "args", "input", "kwargs", "params", "tool_input", "properties"}, name) ||
		value.Kind == laxjson.Object && fuzzy.Fold(name) == fuzzy.Fold(m.prepared.def.Name)
}

// addresses reports whether a property in an envelope repeats a fact about the call.
func (m *mender) addresses(name string, value *laxjson.Tree) bool {
	switch name {
	case "type":
		return value.Kind == laxjson.String && (value.Text == "function" || value.Text == "object")
	case "name", "tool", "tool_name", "function":
		d := m.prepared.def
		return value.Kind == laxjson.String && (fuzzy.Fold(value.Text) == fuzzy.Fold(d.Name) || slices.Contains(d.Aliases, value.Text))
	}
	return false
}
