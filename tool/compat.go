package tool

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"adze/tool/fuzzy"
	"adze/tool/laxjson"
)

// Compat maps the calls of models trained on other assistants' tools to this tool. It is used only
// if arguments do not fit the schema, which validates the result. Anything unknown is refused.
type Compat struct {
	// Verbs are names of other assistants' larger tools, with this tool as one part.
	Verbs []Verb
	// Similar are names of similar tools whose arguments cannot be translated. Their calls fail with a
	// hint at this tool.
	Similar []string
	// Args maps foreign argument names to real ones. Names inside a list's items have the list as
	// prefix: {"todos/step": "content"}.
	Args map[string]string
	// Values maps foreign values of an argument to real ones, ignoring case and separators.
	Values map[string]map[string]string
	// Ignored are arguments without effect here, with the affected values. An empty list stands for
	// all strings, numbers and booleans.
	Ignored map[string][]any
	// Adapt rewrites arguments not covered by the maps. It must not invent content.
	Adapt func(args map[string]any)
}

func (c Compat) clone() Compat {
	c.Verbs, c.Similar, c.Args = slices.Clone(c.Verbs), slices.Clone(c.Similar), maps.Clone(c.Args)
	c.Values, c.Ignored = maps.Clone(c.Values), maps.Clone(c.Ignored)
	return c
}

// ignores reports whether an unknown argument has no effect here.
func (c Compat) ignores(name string, value *laxjson.Tree) bool {
	for known, values := range c.Ignored {
		if known != name && fuzzy.Fold(known) != fuzzy.Fold(name) {
			continue
		}
		v, ok := value.Value()
		if text, is := v.(string); is && len(values) > 0 {
			v = strings.ToLower(text)
		}
		return ok && (len(values) == 0 && value.Kind < laxjson.Array || slices.Contains(values, v))
	}
	return false
}

func (m *mender) adapt(v *laxjson.Tree) {
	value, ok := v.Value()
	before, _ := value.(map[string]any)
	if m.prepared.compat.Adapt == nil || !ok || before == nil {
		return
	}
	after := maps.Clone(before)
	m.prepared.compat.Adapt(after)
	if reflect.DeepEqual(before, after) {
		return
	}
	m.fixes.addFix(stepDialect)
	names, items := v.Names[:0:0], v.Items[:0:0]
	for i, name := range v.Names {
		if reflect.DeepEqual(before[name], after[name]) {
			names, items = append(names, name), append(items, v.Items[i])
			delete(after, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		names, items = append(names, name), append(items, laxjson.Of(after[name]))
	}
	v.Names, v.Items = names, items
}

// reword replaces foreign values in an object.
func (m *mender) reword(v *laxjson.Tree) {
	for i, name := range v.Names {
		if item := v.Items[i]; item.Kind == laxjson.String {
			if meant := m.prepared.compat.Values[name][fuzzy.Fold(item.Text)]; meant != "" {
				item.Text = meant
				m.fixes.addFix(stepDialect)
			}
		}
	}
}

// place returns a path without list indexes: todos for /todos/3.
func place(path string) string {
	steps := slices.DeleteFunc(strings.Split(path, "/"), func(step string) bool {
		return strings.Trim(step, "0123456789") == ""
	})
	return strings.Join(steps, "/")
}

// spoken reports whether a repaired call only used another assistant's dialect.
func (f *fixes) spoken() bool {
	return !slices.ContainsFunc(f.kinds, func(kind string) bool {
		return !slices.Contains([]string{stepAlias, stepName, stepDialect, stepUnknown}, kind)
	})
}
