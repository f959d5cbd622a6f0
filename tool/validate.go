package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Validator compiles a schema. Contract: Compile may be slow, the Check it returns is fast, pure and safe
// for concurrent use; references outside the schema are never followed.
type Validator interface {
	Name() string
	Version() string
	Compile(schema json.RawMessage) (Check, error)
}

// Check validates a decoded JSON value and returns every fault, in document order of the pointers; none
// means valid.
type Check func(value any) []Fault

// maxFaults bounds what a model is told at once; it mends the first few and tries again.
const maxFaults = 20

// JSONSchema is the default Validator: drafts 2020-12 and 7 by github.com/google/jsonschema-go, with all
// errors instead of the first.
type JSONSchema struct{}

// Name of the validator, for provenance.
func (JSONSchema) Name() string { return "jsonschema-go" }

// Version of the library, for provenance.
func (JSONSchema) Version() string { return "0.4.3" }

// Compile resolves the schema once. The library reports only its first error, so on failure, the rare
// path, the schema is walked again to find them all.
func (JSONSchema) Compile(schema json.RawMessage) (Check, error) {
	resolved, err := resolve(schema)
	if err != nil {
		return nil, err
	}
	return func(value any) []Fault {
		err := resolved.Validate(value)
		if err == nil {
			return nil
		}
		return explain(schema, value, err)
	}, nil
}

func resolve(schema json.RawMessage) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("decode schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve schema: %w", err)
	}
	return resolved, nil
}

func explain(schema json.RawMessage, value any, first error) []Fault {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return []Fault{schemaFault("", first.Error())}
	}
	e := explainer{root: root}
	e.walk(root, value, "", 0)
	if len(e.faults) == 0 {
		e.add("", "%s", plainMessage(first))
	}
	sort.SliceStable(e.faults, func(i, j int) bool { return e.faults[i].Path < e.faults[j].Path })
	if len(e.faults) > maxFaults {
		e.faults = e.faults[:maxFaults]
	}
	return e.faults
}

// explainer walks schema and value together and collects every fault it can name.
type explainer struct {
	root   any
	faults []Fault
}

func (e *explainer) add(path, format string, args ...any) {
	e.faults = append(e.faults, schemaFault(path, fmt.Sprintf(format, args...)))
}

func schemaFault(path, message string) Fault {
	return Fault{Stage: StageValidate, Code: CodeInvalidArguments, Path: path, Message: message}
}

func (e *explainer) walk(node, value any, path string, depth int) {
	schema, ok := node.(map[string]any)
	if !ok || depth > 64 {
		if node == false {
			e.add(path, "no value is allowed here")
		}
		return
	}
	before := len(e.faults)
	if ref, ok := schema["$ref"].(string); ok {
		e.walk(e.lookup(ref), value, path, depth+1)
	}
	if !typeMatches(schema["type"], value) {
		e.add(path, "must be %s, is %s", wanted(schema["type"]), typeOf(value))
		return
	}
	if enum, ok := schema["enum"].([]any); ok && !containsJSON(enum, value) {
		e.add(path, "must be one of %s", compact(enum))
	}
	switch v := value.(type) {
	case map[string]any:
		e.object(schema, v, path, depth)
	case []any:
		e.array(schema, v, path, depth)
	}
	if len(e.faults) == before {
		e.rest(schema, value, path)
	}
}

func (e *explainer) object(schema, value map[string]any, path string, depth int) {
	properties, _ := schema["properties"].(map[string]any)
	if required, ok := schema["required"].([]any); ok {
		for _, name := range required {
			if _, present := value[fmt.Sprint(name)]; !present {
				e.add(path+"/"+pointer(fmt.Sprint(name)), "is required and missing")
			}
		}
	}
	for _, name := range sortedKeys(value) {
		at := path + "/" + pointer(name)
		if child, known := properties[name]; known {
			e.walk(child, value[name], at, depth+1)
			continue
		}
		if _, patterns := schema["patternProperties"]; patterns {
			continue
		}
		if extra, present := schema["additionalProperties"]; present {
			e.additional(extra, properties, value[name], name, at, depth)
		}
	}
}

func (e *explainer) additional(extra any, properties map[string]any, value any, name, at string, depth int) {
	if extra != false {
		e.walk(extra, value, at, depth+1)
		return
	}
	if near := Nearest(name, sortedKeys(properties), 1); len(near) == 1 {
		e.add(at, "is not a known property; did you mean %q?", near[0])
		return
	}
	e.add(at, "is not a known property; known: %s", strings.Join(sortedKeys(properties), ", "))
}

func (e *explainer) array(schema map[string]any, value []any, path string, depth int) {
	prefix, _ := schema["prefixItems"].([]any)
	for i, item := range value {
		at := path + "/" + strconv.Itoa(i)
		if i < len(prefix) {
			e.walk(prefix[i], item, at, depth+1)
		} else if items, ok := schema["items"]; ok {
			e.walk(items, item, at, depth+1)
		}
	}
}

// rest lets the library judge one node alone, for keywords this walk does not know.
func (e *explainer) rest(schema map[string]any, value any, path string) {
	node := map[string]any{}
	for key, v := range schema {
		node[key] = v
	}
	if root, ok := e.root.(map[string]any); ok {
		for _, defs := range []string{"$defs", "definitions", "$schema"} {
			if v, ok := root[defs]; ok {
				node[defs] = v
			}
		}
	}
	raw, err := json.Marshal(node)
	if err != nil {
		return
	}
	resolved, err := resolve(raw)
	if err != nil {
		return
	}
	if err := resolved.Validate(value); err != nil {
		e.add(path, "%s", plainMessage(err))
	}
}

// lookup follows a local reference; nil when it leads nowhere.
func (e *explainer) lookup(ref string) any {
	node := e.root
	for _, step := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch n := node.(type) {
		case map[string]any:
			node = n[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n) {
				return nil
			}
			node = n[i]
		default:
			return nil
		}
	}
	return node
}

// plainMessage cuts the library's chain of locations: the pointer says where.
func plainMessage(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	text := err.Error()
	if i := strings.LastIndex(text, ": validating "); i >= 0 {
		text = text[i+2:]
	}
	return text
}

func typeMatches(want any, value any) bool {
	switch w := want.(type) {
	case string:
		return oneType(w, value)
	case []any:
		return slices.ContainsFunc(w, func(t any) bool { s, ok := t.(string); return ok && oneType(s, value) })
	}
	return true
}

func oneType(want string, value any) bool {
	got := typeOf(value)
	return got == want || (want == "number" && got == "integer")
}

func wanted(want any) string {
	if list, ok := want.([]any); ok {
		words := make([]string, len(list))
		for i, w := range list {
			words[i] = fmt.Sprint(w)
		}
		return strings.Join(words, " or ")
	}
	return fmt.Sprint(want)
}

func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func containsJSON(list []any, value any) bool {
	want := compact(value)
	return slices.ContainsFunc(list, func(v any) bool { return compact(v) == want })
}

func compact(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// pointer escapes one step of a JSON pointer (RFC 6901).
func pointer(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
