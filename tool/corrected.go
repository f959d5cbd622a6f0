package tool

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/text/jsontext"
	"adze/tool/laxjson"
)

// corrected is a call's arguments as they would have been taken: what was given and fits, and for
// what is missing or wrong the least that the schema takes. If empty, none was found that the
// validator takes. Given texts that are long, or that mask changes, are not repeated.
func (h Hydration) corrected(mask func(string) string) (example string) {
	defer func() {
		if recover() != nil { // a validator or a type of the author's; there is no example then
			example = ""
		}
	}()
	if h.prepared == nil || h.prepared.def.AllowNoSchema || len(h.Provenance.Original) > maxArguments { // too long to be read
		return ""
	}
	check, err := h.prepared.check()
	if err != nil {
		return ""
	}
	var root map[string]any
	if json.Unmarshal(h.prepared.def.Parameters, &root) != nil {
		return ""
	}
	c := corrector{root: root, aliases: h.prepared.compat.Args, mask: mask}
	given := h.given()
	for _, given := range []any{given, h.without(given), map[string]any{}} {
		value := c.object(root, given, 0)
		if value == nil || len(check.check(value)) > 0 {
			continue
		}
		raw, err := jsontext.Marshal(value)
		if err != nil || len(raw) >= mostCorrected {
			continue
		}
		text := string(raw)
		args, faults := parse(text)
		if len(faults) > 0 {
			continue
		}
		if _, err := h.prepared.instantiate(args); err == nil {
			return text
		}
	}
	return ""
}

// mostCorrected bounds the example in an error, in bytes.
const mostCorrected = 1000

// given are the arguments as far as they could be read.
func (h Hydration) given() any {
	text := h.Provenance.Original
	if h.Provenance.Parsed != nil {
		text = string(h.Provenance.Parsed)
	}
	tree, ok := laxjson.Arguments(text, &laxjson.Steps{})
	if !ok {
		return nil
	}
	value, _ := tree.Value()
	return value
}

// without are given arguments but for those that a fault names.
func (h Hydration) without(given any) any {
	object, ok := given.(map[string]any)
	if !ok {
		return given
	}
	kept := maps.Clone(object)
	for _, f := range h.Errors {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/")
		delete(kept, name)
	}
	return kept
}

// corrector makes a value that a schema takes out of one that it may not take.
type corrector struct {
	root    map[string]any
	aliases map[string]string
	mask    func(string) string
}

// deepestCorrected bounds how deep a schema is followed; those that lead back to themselves end
// there.
const deepestCorrected = 12

// resolved follows references, and takes the parts of allOf and the first of anyOf and oneOf
// together with what stands beside them.
func (c corrector) resolved(node any, depth int) map[string]any {
	s, ok := node.(map[string]any)
	if !ok || depth > deepestCorrected {
		return map[string]any{}
	}
	out := map[string]any{}
	merge := func(part map[string]any) {
		for key, value := range part {
			old, has := out[key]
			switch more := value.(type) {
			case map[string]any:
				if own, ok := old.(map[string]any); ok && key == "properties" {
					for name, p := range more {
						if _, taken := own[name]; !taken {
							own[name] = p
						}
					}
					continue
				}
			case []any:
				if own, ok := old.([]any); ok && key == "required" {
					out[key] = slices.Concat(own, more)
					continue
				}
			}
			if !has {
				out[key] = value
			}
		}
	}
	for key, value := range s {
		if properties, ok := value.(map[string]any); ok && key == "properties" {
			own := map[string]any{}
			maps.Copy(own, properties)
			value = own
		}
		out[key] = value
	}
	if ref, ok := s["$ref"].(string); ok {
		merge(c.resolved(c.at(ref), depth+1))
	}
	if all, ok := s["allOf"].([]any); ok {
		for _, part := range all {
			merge(c.resolved(part, depth+1))
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if some, ok := s[key].([]any); ok && len(some) > 0 {
			merge(c.resolved(some[0], depth+1))
		}
	}
	return out
}

// at is what a reference inside the schema leads to.
func (c corrector) at(ref string) any {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	var node any = c.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" {
			continue
		}
		object, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		node = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return node
}

// object keeps the properties that fit, under their names, and adds those that are required.
func (c corrector) object(node, given any, depth int) map[string]any {
	s := c.resolved(node, 0)
	properties, _ := s["properties"].(map[string]any)
	was, _ := given.(map[string]any)
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if p, known := properties[name]; known {
			if v, ok := c.value(p, was[name], name, depth+1, false); ok {
				out[name] = v
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, known := properties[name]; known {
			continue
		}
		meant := c.meant(name, properties, depth)
		if _, taken := was[meant]; meant != "" && !taken && out[meant] == nil {
			if v, ok := c.value(properties[meant], was[name], meant, depth+1, false); ok {
				out[meant] = v
			}
		}
	}
	required, _ := s["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		if _, has := out[name]; has || name == "" {
			continue
		}
		v, _ := c.value(properties[name], nil, name, depth+1, true)
		out[name] = v
	}
	return out
}

// meant is the property that an unknown name stands for; if empty, none.
func (c corrector) meant(name string, properties map[string]any, depth int) string {
	if known, ok := c.aliases[name]; ok && depth == 0 && properties[known] != nil {
		return known
	}
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
	}
	for _, known := range slices.Sorted(maps.Keys(properties)) {
		if plain(known) == plain(name) {
			return known
		}
	}
	if near := Nearest(name, slices.Sorted(maps.Keys(properties)), 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// value is what a schema takes for a given one; where that does not fit and need not be there, it
// is left out.
func (c corrector) value(node, given any, name string, depth int, needed bool) (v any, ok bool) {
	s := c.resolved(node, 0)
	if depth > deepestCorrected {
		return nil, false
	}
	if v, ok := c.fitting(s, given, name, depth); ok {
		return v, true
	}
	if !needed {
		return nil, false
	}
	return c.placeholder(s, name, depth), true
}

// fitting is a given value where it fits, or does so when it is written otherwise.
func (c corrector) fitting(s map[string]any, given any, name string, depth int) (any, bool) {
	if given == nil {
		return nil, false
	}
	if choice, ok := s["enum"].([]any); ok {
		return chosen(choice, given)
	}
	if _, fixed := s["const"]; fixed {
		return nil, false
	}
	types := typesOf(s)
	takes := func(t string) bool { return len(types) == 0 || slices.Contains(types, t) }
	switch v := given.(type) {
	case string:
		if takes("string") {
			return c.text(s, v)
		}
	case bool:
		if takes("boolean") {
			return v, true
		}
	case float64:
		whole := v == math.Trunc(v)
		if takes("number") || takes("integer") && whole {
			return between(s, v), true
		}
		if takes("string") && whole && math.Abs(v) < 1e15 {
			return laxjson.Of(v).String(), true
		}
	case map[string]any:
		if takes("object") {
			return c.object(s, v, depth), true
		}
	case []any:
		if takes("array") {
			return c.items(s, v, name, depth)
		}
	}
	if takes("array") && len(types) > 0 {
		if _, object := given.(map[string]any); !object || slices.Contains(typesOf(c.resolved(s["items"], 0)), "object") {
			return c.items(s, []any{given}, name, depth)
		}
	}
	return nil, false
}

// items keeps those items that fit.
func (c corrector) items(s map[string]any, given []any, name string, depth int) (any, bool) {
	out := []any{}
	for _, item := range given {
		if v, ok := c.value(s["items"], item, name, depth+1, false); ok && len(out) < 3 {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return nil, false
	}
	return out, true
}

// chosen is the value of a choice that is meant.
func chosen(choice []any, given any) (any, bool) {
	if slices.ContainsFunc(choice, func(one any) bool { return one == given }) {
		return given, true
	}
	text, ok := given.(string)
	if !ok {
		return nil, false
	}
	var names []string
	for _, one := range choice {
		if name, ok := one.(string); ok {
			if strings.EqualFold(name, strings.TrimSpace(text)) {
				return one, true
			}
			names = append(names, name)
		}
	}
	if near := Nearest(text, names, 1); len(near) > 0 {
		return near[0], true
	}
	return nil, false
}

// longestGiven is how long a text is that an error repeats, in characters.
const longestGiven = 80

func (c corrector) text(s map[string]any, given string) (any, bool) {
	_, pattern := s["pattern"]
	_, format := s["format"]
	length := utf8.RuneCountInString(given)
	if least, ok := s["minLength"].(float64); ok && float64(length) < least {
		return nil, false
	}
	if most, ok := s["maxLength"].(float64); ok && float64(length) > most {
		return nil, false
	}
	if length > longestGiven || c.mask != nil && c.mask(given) != given {
		if pattern || format {
			return nil, false
		}
		return "…", true
	}
	return given, true
}

// placeholder is the least that a schema takes.
func (c corrector) placeholder(s map[string]any, name string, depth int) any {
	for _, key := range []string{"const", "default"} {
		if v, ok := s[key]; ok {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			return list[0]
		}
	}
	types := typesOf(s)
	if len(types) == 0 && s["properties"] != nil {
		types = []string{"object"}
	}
	if len(types) == 0 {
		return "<" + name + ">"
	}
	switch types[0] {
	case "integer", "number":
		return between(s, 1)
	case "boolean":
		return true
	case "array":
		item, ok := c.value(s["items"], nil, name, depth+1, true)
		if least, has := s["minItems"].(float64); !ok || !has && s["items"] == nil && least == 0 {
			return []any{}
		}
		out := []any{item}
		for least, _ := s["minItems"].(float64); float64(len(out)) < least && len(out) < 10; {
			out = append(out, item)
		}
		return out
	case "object":
		return c.object(s, nil, depth)
	case "null":
		return nil
	}
	text := "<" + name + ">"
	if strings.Contains(strings.ToLower(name), "url") {
		text = "https://example.com"
	}
	switch format, _ := s["format"].(string); format {
	case "uri", "url":
		text = "https://example.com"
	case "date":
		text = "2026-01-31"
	case "date-time":
		text = "2026-01-31T12:00:00Z"
	case "email":
		text = "name@example.com"
	}
	if least, ok := s["minLength"].(float64); ok {
		text += strings.Repeat("x", max(0, int(min(least, 200))-utf8.RuneCountInString(text)))
	}
	if most, ok := s["maxLength"].(float64); ok && float64(utf8.RuneCountInString(text)) > most {
		text = string([]rune(text)[:max(0, int(most))])
	}
	return text
}

// between is a number within the bounds of a schema.
func between(s map[string]any, n float64) float64 {
	if least, ok := s["exclusiveMinimum"].(float64); ok && n <= least {
		n = least + 1
	}
	if most, ok := s["exclusiveMaximum"].(float64); ok && n >= most {
		n = most - 1
	}
	if least, ok := s["minimum"].(float64); ok {
		n = max(n, least)
	}
	if most, ok := s["maximum"].(float64); ok {
		n = min(n, most)
	}
	if step, ok := s["multipleOf"].(float64); ok && step > 0 {
		n = math.Ceil(n/step) * step
	}
	return n
}

func typesOf(s map[string]any) []string {
	switch t := s["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, one := range t {
			if name, ok := one.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	return nil
}
