package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonschema "adze/tool/schema"
)

var (
	errEndless      = errors.New("its schema refers to itself without end")
	errTooManySteps = fmt.Errorf("its schema takes more than %d steps for one value", maxSteps)
)

// walker refuses a schema that takes endless time, or far too much, for one and the same value: by
// references that come back to where they stand, or that double at each step.
type walker struct {
	root      map[string]any
	following map[string]bool // references that lead to where the walk is now
	steps     int
}

// each looks at every schema in a value.
func (w *walker) each(value any) error {
	children, _ := value.([]any)
	if v, is := value.(map[string]any); is {
		w.steps = 0
		if err := w.visit(v); err != nil {
			return err
		}
		children = slices.Collect(maps.Values(v))
	}
	for _, child := range children {
		if err := w.each(child); err != nil {
			return err
		}
	}
	return nil
}

// visit counts the schemas that one value is held to at one schema.
func (w *walker) visit(schema map[string]any) error {
	if w.steps++; w.steps > maxSteps {
		return errTooManySteps
	}
	for _, key := range []string{"$ref", "$dynamicRef"} {
		ref, ok := schema[key].(string)
		if !ok {
			continue
		}
		if w.following[ref] {
			return errEndless
		}
		at, _ := jsonschema.Follow(w.root, strings.Split(ref, "/")[1:])
		if target, ok := at.(map[string]any); ok && (ref == "#" || strings.HasPrefix(ref, "#/")) {
			w.following[ref] = true
			err := w.visit(target)
			delete(w.following, ref)
			if err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		all, _ := schema[key].([]any)
		for _, one := range all {
			if err := w.visitIf(one); err != nil {
				return err
			}
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		if err := w.visitIf(schema[key]); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) visitIf(value any) error {
	if schema, ok := value.(map[string]any); ok {
		return w.visit(schema)
	}
	return nil
}
