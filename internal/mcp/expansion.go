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

// walker refuses a schema whose check of one value would take endless or far too long: references
// that lead back to themselves, or that double at each step.
type walker struct {
	root      map[string]any
	following map[string]bool // references that the walk is in
	steps     int
}

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

// visit counts the schemas that apply to one value at this schema.
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
