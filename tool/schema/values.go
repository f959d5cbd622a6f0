package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/text/plural"
	"adze/tool/fuzzy"
)

// number checks numeric keywords. It compares exact decimals: 4.35 is a multiple of 0.01.
func (e *explainer) number(schema map[string]any, n float64, path string) {
	if limit, ok := schema["minimum"].(float64); ok && n < limit {
		e.add(path, "must be at least %s", decimal(limit))
	}
	if limit, ok := schema["maximum"].(float64); ok && n > limit {
		e.add(path, "must be at most %s", decimal(limit))
	}
	if limit, ok := schema["exclusiveMinimum"].(float64); ok && n <= limit {
		e.add(path, "must be more than %s", decimal(limit))
	}
	if limit, ok := schema["exclusiveMaximum"].(float64); ok && n >= limit {
		e.add(path, "must be less than %s", decimal(limit))
	}
	if step, ok := schema["multipleOf"].(float64); ok && step > 0 && !multiple(n, step) {
		e.add(path, "must be a multiple of %s", decimal(step))
	}
}

func multiple(n, step float64) bool {
	a, okA := new(big.Rat).SetString(decimal(n))
	b, okB := new(big.Rat).SetString(decimal(step))
	return okA && okB && a.Quo(a, b).IsInt()
}

// decimal returns a number's shortest JSON form, which is how its author wrote it.
func decimal(f float64) string { return compact(f) }

// text checks string keywords; format is an annotation and never refuses.
func (e *explainer) text(schema map[string]any, s, path string) {
	n := utf8.RuneCountInString(s)
	if limit, ok := schema["minLength"].(float64); ok && float64(n) < limit {
		e.add(path, "must have at least %s, has %d", count(limit, "character"), n)
	}
	if limit, ok := schema["maxLength"].(float64); ok && float64(n) > limit {
		e.add(path, "must have at most %s, has %d", count(limit, "character"), n)
	}
	if pattern, ok := schema["pattern"].(string); ok {
		if fits, err := regexp.MatchString(pattern, s); err == nil && !fits {
			e.add(path, "must match the pattern %s", short(pattern))
		}
	}
}

func (e *explainer) array(schema map[string]any, value []any, path string, depth int) {
	if limit, ok := schema["minItems"].(float64); ok && float64(len(value)) < limit {
		e.add(path, "must have at least %s, has %d", count(limit, "item"), len(value))
	}
	if limit, ok := schema["maxItems"].(float64); ok && float64(len(value)) > limit {
		e.add(path, "must have at most %s, has %d", count(limit, "item"), len(value))
	}
	if schema["uniqueItems"] == true {
		e.unique(value, path)
	}
	prefix, rest := e.itemSchemas(schema)
	for i, item := range value {
		at := path + "/" + strconv.Itoa(i)
		if i < len(prefix) {
			e.walk(prefix[i], item, at, depth+1)
		} else {
			e.walk(rest, item, at, depth+1)
		}
		if len(e.faults) >= faultsKept {
			return
		}
	}
	e.contains(schema, value, path, depth)
}

// itemSchemas returns the schemas for the first items and for the rest, which each draft writes
// differently.
func (e *explainer) itemSchemas(schema map[string]any) (prefix []any, rest any) {
	if !e.draft7 {
		return list(schema["prefixItems"]), schema["items"]
	}
	if prefix, ok := schema["items"].([]any); ok {
		return prefix, schema["additionalItems"]
	}
	return nil, schema["items"]
}

func (e *explainer) unique(value []any, path string) {
	first := map[string]int{}
	for i, item := range value {
		text := compact(item)
		if before, seen := first[text]; seen {
			e.add(path, "must not repeat an item: %d and %d are equal", before, i)
			return
		}
		first[text] = i
	}
}

func (e *explainer) contains(schema map[string]any, value []any, path string, depth int) {
	want, ok := schema["contains"]
	if !ok {
		return
	}
	n := 0
	for i, item := range value {
		if len(e.trial(want, item, path+"/"+strconv.Itoa(i), depth)) == 0 {
			n++
		}
	}
	least, most := 1.0, float64(len(value))
	if v, ok := schema["minContains"].(float64); ok && !e.draft7 {
		least = v
	}
	if v, ok := schema["maxContains"].(float64); ok && !e.draft7 {
		most = v
	}
	if float64(n) < least {
		e.add(path, "must hold at least %s that match %s, holds %d", count(least, "item"), short(compact(want)), n)
	}
	if float64(n) > most {
		e.add(path, "must hold at most %s that match %s, holds %d", count(most, "item"), short(compact(want)), n)
	}
}

func (e *explainer) object(schema, value map[string]any, path string, depth int) {
	if limit, ok := schema["minProperties"].(float64); ok && float64(len(value)) < limit {
		e.add(path, "must have at least %s, has %d", count(limit, "property"), len(value))
	}
	if limit, ok := schema["maxProperties"].(float64); ok && float64(len(value)) > limit {
		e.add(path, "must have at most %s, has %d", count(limit, "property"), len(value))
	}
	e.required(schema["required"], value, path, "is required and missing")
	e.dependent(schema, value, path, depth)
	for _, name := range slices.Sorted(maps.Keys(value)) {
		at := path + "/" + Pointer(name)
		if names, ok := schema["propertyNames"]; ok {
			if faults := e.trial(names, name, at, depth); len(faults) > 0 {
				e.add(at, "has a name that is not allowed: it %s", faults[0].Message)
			}
		}
		e.property(schema, name, value[name], at, depth)
		if len(e.faults) >= faultsKept {
			return
		}
	}
}

func (e *explainer) required(names any, value map[string]any, path, message string) {
	for _, name := range list(names) {
		name, _ := name.(string)
		if _, present := value[name]; !present {
			e.add(path+"/"+Pointer(name), "%s", message)
		}
	}
}

// dependent checks a present property's demands on the whole object.
func (e *explainer) dependent(schema, value map[string]any, path string, depth int) {
	for _, keyword := range []string{"dependentRequired", "dependentSchemas", "dependencies"} {
		if (keyword == "dependencies") != e.draft7 {
			continue
		}
		rules, _ := schema[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			if _, present := value[name]; !present {
				continue
			}
			if _, names := rules[name].([]any); names {
				e.required(rules[name], value, path, "is required together with "+strconv.Quote(short(name)))
				continue
			}
			e.walk(rules[name], value, path, depth+1)
		}
	}
}

// property checks one property by its own schema, by all matching patterns, and if there are none
// by additionalProperties.
func (e *explainer) property(schema map[string]any, name string, value any, at string, depth int) {
	properties, _ := schema["properties"].(map[string]any)
	child, known := properties[name]
	if known {
		e.walk(child, value, at, depth+1)
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
		if fits, _ := regexp.MatchString(pattern, name); fits {
			known = true
			e.walk(patterns[pattern], value, at, depth+1)
		}
	}
	if extra, present := schema["additionalProperties"]; present && !known {
		e.additional(extra, properties, name, value, at, depth)
	}
}

func (e *explainer) additional(extra any, properties map[string]any, name string, value any, at string, depth int) {
	if extra != false {
		e.walk(extra, value, at, depth+1)
		return
	}
	known := slices.Sorted(maps.Keys(properties))
	if len(known) == 0 {
		e.add(at, "is not a known property; there are none")
		return
	}
	near := ""
	if like := fuzzy.Names(name, known, 1); len(like) == 1 {
		near = fmt.Sprintf(" (did you mean %q?)", like[0])
	}
	e.add(at, "is not a known property%s; known: %s", near, short(strings.Join(known, ", ")))
}

func count(n float64, thing string) string { return decimal(n) + " " + plural.Noun(n, thing) }

// compact writes a value in a canonical form, so that equal values are equal texts: 1 and 1.0, and
// objects with any key order.
func compact(v any) string {
	if v == 0.0 { // also negative zero
		return "0"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return string(raw)
}
