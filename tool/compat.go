package tool

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"adze/tool/fuzzy"
	"adze/tool/laxjson"
)

// Compat is how models that were trained on other assistants' tools call a tool of this kind. It is
// read only where arguments do not fit the schema, and the schema judges the result. What it does
// not know is refused.
type Compat struct {
	// Verbs are names of other assistants' tools of which this tool is one part.
	Verbs []Verb
	// Kin are names of tools that do such work in a way that cannot be translated: they are not
	// accepted, but this tool is named instead.
	Kin []string
	// Args maps argument names that models use instead to the real ones. In the items of a list they
	// are written with its name: {"todos/step": "content"}.
	Args map[string]string
	// Values maps other words for the values of an argument, without case and separators, to the real
	// ones.
	Values map[string]map[string]string
	// Ignored are arguments that change nothing here, with the values for which that holds. No values
	// stand for every text, number and boolean.
	Ignored map[string][]any
	// Adapt rewrites arguments that another name or value does not explain. It invents nothing.
	Adapt func(args map[string]any)
}

func (c Compat) clone() Compat {
	c.Verbs, c.Kin, c.Args = slices.Clone(c.Verbs), slices.Clone(c.Kin), maps.Clone(c.Args)
	c.Values, c.Ignored = maps.Clone(c.Values), maps.Clone(c.Ignored)
	return c
}

// ignores reports whether an argument that the schema does not know changes nothing here.
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

// adapt lets the tool rewrite its arguments.
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
	m.did.did(stepDialect)
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

// reword gives the values of an object the words of the schema.
func (m *mender) reword(v *laxjson.Tree) {
	for i, name := range v.Names {
		if item := v.Items[i]; item.Kind == laxjson.String {
			if meant := m.prepared.compat.Values[name][fuzzy.Fold(item.Text)]; meant != "" {
				item.Text = meant
				m.did.did(stepDialect)
			}
		}
	}
}

// place is a path without the numbers of list items: todos of /todos/3.
func place(path string) string {
	steps := slices.DeleteFunc(strings.Split(path, "/"), func(step string) bool {
		return strings.Trim(step, "0123456789") == ""
	})
	return strings.Join(steps, "/")
}

// spoken reports whether a mended call was no fault but another assistant's way to say it.
func (f *fixes) spoken() bool {
	return !slices.ContainsFunc(f.kinds, func(kind string) bool {
		return !slices.Contains([]string{stepAlias, stepName, stepDialect, stepUnknown}, kind)
	})
}
