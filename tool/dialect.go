package tool

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"adze/tool/fuzzy"
	"adze/tool/laxjson"
	"adze/tool/schema"
)

// Idiom is something that models which were trained on another assistant's tools say, and what it
// means to this tool: more than another name for an argument, which Config.ArgAliases has. It is
// asked only about arguments that do not fit the schema, and what it makes of them is judged by the
// schema again.
type Idiom struct {
	// In is the list or object that it is about, "todos" for its items; if empty, the arguments
	// themselves.
	In string
	// Names are the arguments that it reads, without regard to case and separators. It is asked
	// when one of them was written.
	Names []string
	// Means returns what stands for those of Names that were written: the same where there is
	// nothing to say, none where they say nothing here. A sentence instead, which goes on from
	// "/name", tells the model why they cannot be taken and what to do. It is pure and invents
	// nothing.
	Means func(written map[string]any) (means map[string]any, refusal string)
}

// idioms lets every idiom that is about an object at path read it.
func (m *mender) idioms(v *laxjson.Tree, path string) {
	if len(m.prepared.idioms) == 0 {
		return
	}
	at := place(path)
	for _, d := range m.prepared.idioms {
		if d.In == at {
			m.idiom(v, d, path)
		}
	}
}

func (m *mender) idiom(v *laxjson.Tree, d Idiom, path string) {
	written, places := map[string]any{}, map[int]string{}
	for i, name := range v.Names {
		known := d.name(name)
		if known == "" {
			continue
		}
		if _, twice := written[known]; twice {
			return // which of them counts is a guess
		}
		value, ok := v.Items[i].Value()
		if !ok {
			return
		}
		written[known], places[i] = value, known
	}
	if len(written) == 0 {
		return
	}
	means, refusal := d.Means(written)
	if refusal != "" {
		for i := range places {
			m.did.refuse(path+"/"+schema.Pointer(v.Names[i]), refusal)
		}
		return
	}
	m.say(v, idiomatic{means, written, places, path})
}

// name is the name among Names that a written one stands for; "" where it is none of them.
func (d Idiom) name(written string) string {
	for _, name := range d.Names {
		if name == written || fuzzy.Fold(name) == fuzzy.Fold(written) {
			return name
		}
	}
	return ""
}

// idiomatic is what was written, at which places of an object, and what it means.
type idiomatic struct {
	means, written map[string]any
	places         map[int]string
	path           string
}

// say puts what is meant in the place of what was written. A meaning for an argument that is there
// already leaves all as it is.
func (m *mender) say(v *laxjson.Tree, d idiomatic) {
	fresh := false
	for name, value := range d.means {
		before, was := d.written[name]
		if !was && v.Has(name) {
			return
		}
		fresh = fresh || !was || !reflect.DeepEqual(before, value)
	}
	if !fresh && len(d.means) == len(d.written) {
		return
	}
	m.did.did(stepDialect)
	names, items := v.Names[:0:0], v.Items[:0:0]
	for i, name := range v.Names {
		known, about := d.places[i]
		value, meant := d.means[known]
		switch {
		case !about:
			names, items = append(names, name), append(items, v.Items[i])
		case meant && reflect.DeepEqual(value, d.written[known]):
			names, items = append(names, known), append(items, v.Items[i])
		case !meant && !fresh:
			m.did.drop(d.path + "/" + schema.Pointer(name))
		}
	}
	v.Names, v.Items = names, items
	for _, name := range slices.Sorted(maps.Keys(d.means)) {
		if !v.Has(name) {
			v.Names, v.Items = append(v.Names, name), append(v.Items, laxjson.Of(d.means[name]))
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

// refuse notes why an argument cannot be taken.
func (f *fixes) refuse(path, why string) {
	if f.refused == nil {
		f.refused = map[string]string{}
	}
	f.refused[path] = why
}

// reasoned puts the idioms' reasons in the place of what the schema says of the same arguments.
func (f *fixes) reasoned(faults []Fault) []Fault {
	var out []Fault
	told := map[string]bool{}
	for _, fault := range faults {
		path := f.refusal(fault.Path)
		if path == "" || fault.Stage != StageValidate {
			out = append(out, fault)
		} else if !told[path] {
			told[path] = true
			out = append(out, schemaFault(path, f.refused[path]))
		}
	}
	return out
}

// refusal is the path that an idiom refused and that another is at or below; "" where there is
// none.
func (f *fixes) refusal(path string) string {
	for refused := range f.refused {
		if path == refused || strings.HasPrefix(path, refused+"/") {
			return refused
		}
	}
	return ""
}

// Instead is the call of another tool that a call means, or why neither can be made of it.
type Instead struct {
	Tool, Arguments string
	Refusal         string
}

// redirect makes a call that another tool's arguments are written in a call of that tool. It
// returns its arguments; false where the call is refused.
func (h *Hydration) redirect(s *Set, arguments string) (string, bool) {
	if h.prepared.instead == nil {
		return arguments, true
	}
	args, faults := parse(arguments)
	if len(faults) > 0 {
		return arguments, true
	}
	to := h.prepared.instead(args.tree)
	if to == nil {
		return arguments, true
	}
	e := s.byName[to.Tool]
	if to.Refusal != "" || e == nil {
		why := to.Refusal
		if why == "" {
			why = "this is a call of " + to.Tool + ", which is not to be had here; use another tool"
		}
		h.fail(Fault{Stage: StageValidate, Code: CodeInvalidArguments, Message: why})
		return "", false
	}
	h.Provenance.Dialect = &Repair{Kind: stepDialect, Before: arguments, After: json.RawMessage(to.Arguments)}
	h.prepared = e
	h.Provenance.NoSchemaMode = h.prepared.def.NoSchemaMode
	h.Tool = to.Tool
	h.aliased()
	return to.Arguments, true
}
