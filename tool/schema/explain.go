package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxFaults limits the faults shown to a model, which fixes the first few and tries again.
	maxFaults = 20
	// faultsKept limits the work on a long array with wrong items.
	faultsKept = 1000
	maxDepth   = 2000
)

// A Fault is a place where a value violates its schema.
type Fault struct{ Path, Message string }

// explain lists all faults in a value that the library refused. The library's verdict counts only
// where this walk is unsure: the library divides floats for multipleOf and so refuses 4.35 as a
// multiple of 0.01.
func explain(schema json.RawMessage, value any) []Fault {
	var root any
	if err := json.Unmarshal(schema, &root); err != nil {
		return []Fault{{"", "does not match the schema"}}
	}
	e := explainer{document: &document{root: root}, draft7: isDraft7(root)}
	e.walk(root, value, "", 0)
	if len(e.faults) == 0 {
		if !e.unsure {
			return nil
		}
		e.add("", "does not match the schema (unevaluated or dynamic keywords)")
	}
	// Sort items by number, not by digits.
	digits := regexp.MustCompile(`\d+`)
	key := func(f Fault) string {
		return digits.ReplaceAllStringFunc(f.Path, func(n string) string { return fmt.Sprintf("%09s", n) })
	}
	slices.SortStableFunc(e.faults, func(a, b Fault) int { return strings.Compare(key(a), key(b)) })
	if left := len(e.faults) - maxFaults; left > 0 {
		e.faults = append(e.faults[:maxFaults], Fault{"", fmt.Sprintf("and %d more faults", left)})
	}
	return e.faults
}

func isDraft7(root any) bool {
	schema, _ := root.(map[string]any)
	version, _ := schema["$schema"].(string)
	return strings.Contains(version, "draft-07")
}

// explainer walks schema and value together and collects faults.
type explainer struct {
	*document
	draft7 bool
	faults []Fault
	unsure bool // met a keyword that this walk does not check
}

func (e *explainer) add(path, format string, args ...any) {
	if len(e.faults) < faultsKept {
		e.faults = append(e.faults, Fault{path, fmt.Sprintf(format, args...)})
	}
}

func (e *explainer) walk(node, value any, path string, depth int) {
	schema, ok := node.(map[string]any)
	if node == false {
		e.add(path, "no value is allowed here")
	}
	if !ok {
		return
	}
	if depth > maxDepth {
		e.unsure = true
		return
	}
	if e.reference(schema, value, path, depth) && e.draft7 {
		return // draft 7 ignores keywords beside a $ref
	}
	if !typeMatches(schema["type"], value) {
		e.add(path, "must be %s, is %s", wanted(schema["type"]), TypeOf(value))
		return
	}
	e.fixed(schema, value, path)
	switch v := value.(type) {
	case float64:
		e.number(schema, v, path)
	case string:
		e.text(schema, v, path)
	case []any:
		e.array(schema, v, path, depth)
	case map[string]any:
		e.object(schema, v, path, depth)
	}
	e.combined(schema, value, path, depth)
}

// reference follows $ref and $dynamicRef, which are equal in a schema without embedded resources.
func (e *explainer) reference(schema map[string]any, value any, path string, depth int) (followed bool) {
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		ref, ok := schema[keyword].(string)
		if !ok || keyword == "$dynamicRef" && e.draft7 {
			continue
		}
		followed = true
		target, found := e.target(ref)
		if !found {
			e.unsure = true
			continue
		}
		e.walk(target, value, path, depth+1)
	}
	return followed
}

func (e *explainer) fixed(schema map[string]any, value any, path string) {
	if want, ok := schema["const"]; ok && compact(want) != compact(value) {
		e.add(path, "must be %s", short(compact(want)))
	}
	if enum, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(enum, func(v any) bool { return compact(v) == compact(value) }) {
		e.add(path, "must be one of %s", short(compact(enum)))
	}
}

// trial checks a value separately: for alternatives, conditions and negations.
func (e *explainer) trial(node, value any, path string, depth int) []Fault {
	t := explainer{document: e.document, draft7: e.draft7}
	t.walk(node, value, path, depth+1)
	e.unsure = e.unsure || t.unsure
	return t.faults
}

// combined checks keywords that apply other schemas to the same value.
func (e *explainer) combined(schema map[string]any, value any, path string, depth int) {
	for _, part := range list(schema["allOf"]) {
		e.walk(part, value, path, depth+1)
	}
	if forms := list(schema["anyOf"]); len(forms) > 0 {
		e.alternatives(forms, value, path, depth, false)
	}
	if forms := list(schema["oneOf"]); len(forms) > 0 {
		e.alternatives(forms, value, path, depth, true)
	}
	if not, ok := schema["not"]; ok && len(e.trial(not, value, path, depth)) == 0 && !e.unsure {
		e.add(path, "has a form that is not allowed: %s", short(compact(not)))
	}
	if condition, ok := schema["if"]; ok {
		branch := "then"
		if len(e.trial(condition, value, path, depth)) > 0 {
			branch = "else"
		}
		if then, ok := schema[branch]; ok {
			e.walk(then, value, path, depth+1)
		}
	}
	if !e.draft7 {
		_, items := schema["unevaluatedItems"]
		_, properties := schema["unevaluatedProperties"]
		e.unsure = e.unsure || items || properties
	}
}

// alternatives checks anyOf and oneOf. If no form fits, it reports the closest one's faults.
func (e *explainer) alternatives(forms []any, value any, path string, depth int, one bool) {
	var fitting []string
	var closest []Fault
	for i, form := range forms {
		faults := e.trial(form, value, path, depth)
		if len(faults) == 0 {
			fitting = append(fitting, fmt.Sprint(i+1))
		}
		if closest == nil || farness(faults, path) < farness(closest, path) {
			closest = faults
		}
	}
	switch {
	case len(fitting) == 1 || len(fitting) > 1 && !one:
	case len(fitting) > 1:
		if !e.unsure {
			e.add(path, "fits forms %s of %d and must fit exactly one", strings.Join(fitting, ", "), len(forms))
		}
	case onlyTypes(forms, value):
		e.add(path, "must be %s, is %s", wantedOf(forms), TypeOf(value))
	default:
		for _, f := range closest {
			e.add(f.Path, "%s", f.Message)
		}
	}
}

// farness ranks forms by their distance: a wrong type or discriminator at the value itself counts
// more than any fault inside.
func farness(faults []Fault, path string) int {
	n := len(faults)
	for _, f := range faults {
		if f.Path == path {
			n += faultsKept
		}
	}
	return n
}

// onlyTypes reports whether each form fails by its type alone, so that one sentence can name them
// all.
func onlyTypes(forms []any, value any) bool {
	return !slices.ContainsFunc(forms, func(form any) bool {
		schema, ok := form.(map[string]any)
		return !ok || schema["type"] == nil || typeMatches(schema["type"], value)
	})
}

func wantedOf(forms []any) string {
	var words []string
	for _, form := range forms {
		word := wanted(form.(map[string]any)["type"]) // onlyTypes checked this
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " or ")
}
