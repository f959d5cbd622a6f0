package tool

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/text/jsontext"
	"adze/tool/laxjson"
	"adze/tool/schema"
)

// corrected is a call's arguments as they would have been taken: given ones in which nothing was
// wrong, and for what is missing the least that the schema takes. If empty, none was found that the
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
	shapes, err := schema.ReadShapes(h.prepared.def.Parameters)
	if err != nil {
		return ""
	}
	c := corrector{shapes, mask}
	given := h.sound(shapes.Top())
	for _, given := range []map[string]any{given, nil} {
		value := c.object(shapes.Top(), given, 0)
		raw, err := jsontext.Marshal(value)
		if err != nil || len(raw) >= mostCorrected || len(check.check(value)) > 0 {
			continue
		}
		args, faults := parse(string(raw))
		if len(faults) > 0 {
			continue
		}
		if _, err := h.prepared.instantiate(args); err == nil {
			return string(raw)
		}
	}
	return ""
}

// mostCorrected bounds the example in an error, in bytes; longestGiven a text of it that was given,
// in characters; deepestCorrected how deep a schema is followed.
const (
	mostCorrected    = 1000
	longestGiven     = 80
	deepestCorrected = 12
)

// sound are the given arguments in which nothing was wrong, under the names of the schema.
func (h Hydration) sound(s *schema.Shape) map[string]any {
	text := h.Provenance.Original
	if h.Provenance.Parsed != nil {
		text = string(h.Provenance.Parsed)
	}
	tree, ok := laxjson.Arguments(text, &laxjson.Steps{})
	if !ok {
		return nil
	}
	value, _ := tree.Value()
	given, _ := value.(map[string]any)
	wrong := map[string]bool{}
	for _, f := range h.Errors {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "/"), "/")
		wrong[name] = true
	}
	known := slices.Sorted(maps.Keys(s.Properties))
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, is := s.Properties[name]; is {
			if node, _ := s.Properties[name].(map[string]any); !wrong[name] {
				out[name] = given[name]
			} else if near := nearChoice(node, given[name]); near != "" {
				out[name] = near
			}
			continue
		}
		meant := realName(name, s, h.prepared.compat.Args)
		if near := Nearest(name, known, 1); meant == "" && len(near) > 0 {
			meant = near[0]
		}
		if _, taken := given[meant]; meant != "" && !taken {
			out[meant] = given[name]
		}
	}
	return out
}

// nearChoice is the choice that a text resembles; if empty, none.
func nearChoice(s map[string]any, given any) string {
	choice, _ := s["enum"].([]any)
	text, _ := given.(string)
	var names []string
	for _, one := range choice {
		if name, ok := one.(string); ok {
			names = append(names, name)
		}
	}
	if near := Nearest(text, names, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// corrector makes a value that a schema takes.
type corrector struct {
	shapes *schema.Shapes
	mask   func(string) string
}

// object has what was given, and what is required beside it.
func (c corrector) object(s *schema.Shape, given map[string]any, depth int) map[string]any {
	out := map[string]any{}
	for name, v := range given {
		out[name] = c.short(v)
	}
	for _, r := range s.Required {
		name, _ := r.(string)
		if _, has := out[name]; !has && name != "" {
			out[name] = c.placeholder(s.Properties[name], name, depth+1)
		}
	}
	return out
}

// short is a given value without texts that are long or secret, and with few items of lists.
func (c corrector) short(v any) any {
	switch v := v.(type) {
	case string:
		if utf8.RuneCountInString(v) > longestGiven || c.mask != nil && c.mask(v) != v {
			return "…"
		}
	case []any:
		out := []any{}
		for _, item := range v[:min(len(v), 3)] {
			out = append(out, c.short(item))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, item := range v {
			out[name] = c.short(item)
		}
		return out
	}
	return v
}

// placeholder is the least that a schema takes.
func (c corrector) placeholder(node any, name string, depth int) any {
	shape := c.shapes.Of(node)
	s := shape.Node
	if depth > deepestCorrected {
		return nil
	}
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
	types := shape.Types
	if len(types) == 0 && shape.Properties != nil {
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
		out := []any{}
		least, _ := s["minItems"].(float64)
		for n := 0; n < 10 && (float64(n) < least || n == 0 && shape.Items != nil); n++ {
			out = append(out, c.placeholder(shape.Items, name, depth+1))
		}
		return out
	case "object":
		return c.object(shape, nil, depth)
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
