package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The names that every provider accepts.
var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`) })

// checkConfig is what Define can know: registration fails closed, with one clear error each.
func checkConfig[Args, Meta any](id string, c Config[Args, Meta]) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf("tool "+id+": "+format, args...)) }
	if c.Run == nil {
		refuse("no Run function")
	}
	if !c.Redact.declared {
		refuse("no Redact: say which fields may be logged with Expose(…), or Expose() for none")
	}
	if err := checkSchema(c.Parameters, c.AllowNoSchema, c.NoSchemaMode, SchemaOf[Args]); err != nil {
		refuse("%w", err)
	}
	if c.ProviderSchema != nil {
		if err := localSchema(c.ProviderSchema); err != nil {
			refuse("provider schema: %w", err)
		}
	}
	for _, p := range slices.Concat(c.Permissions.Required, c.Permissions.Optional) {
		if !slices.Contains([]Permission{Read, Write, Execute, Network}, p) {
			refuse("unknown permission %q", p)
		}
	}
	for _, alias := range c.Aliases {
		if alias == id || !namePattern().MatchString(alias) {
			refuse("bad alias %q", alias)
		}
	}
	return errors.Join(errs...)
}

func checkSchema(params json.RawMessage, allowNone bool, mode NoSchemaMode, derive func() (json.RawMessage, error)) error {
	if allowNone != (mode != "") {
		return errors.New("AllowNoSchema and NoSchemaMode go together")
	}
	if allowNone && !slices.Contains([]NoSchemaMode{NoSchemaReadOnly, NoSchemaApproval, NoSchemaFull}, mode) {
		return fmt.Errorf("unknown NoSchemaMode %q", mode)
	}
	if params != nil {
		return localSchema(params)
	}
	if allowNone {
		return nil
	}
	_, err := derive()
	return err
}

// localSchema accepts a JSON object whose references all stay inside it.
func localSchema(raw json.RawMessage) error {
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("schema is not a JSON object: %w", err)
	}
	return localRefs(schema, "")
}

// Keywords whose values are data or whose keys are names, not keywords.
var (
	dataKeywords = []string{"const", "enum", "default", "examples"}
	nameKeywords = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

func localRefs(node any, path string) error {
	switch n := node.(type) {
	case []any:
		for i, child := range n {
			if err := localRefs(child, fmt.Sprintf("%s/%d", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, child := range n {
			if err := localKeyword(key, child, path+"/"+key); err != nil {
				return err
			}
		}
	}
	return nil
}

func localKeyword(key string, child any, path string) error {
	if slices.Contains(dataKeywords, key) {
		return nil
	}
	if key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef" {
		ref, ok := child.(string)
		if !ok || !strings.HasPrefix(ref, "#") {
			return fmt.Errorf("schema%s: reference %v is not local; copy it into $defs and refer to #/$defs/NAME", path, child)
		}
		return nil
	}
	if names, ok := child.(map[string]any); ok && slices.Contains(nameKeywords, key) {
		for name, schema := range names {
			if err := localRefs(schema, path+"/"+name); err != nil {
				return err
			}
		}
		return nil
	}
	return localRefs(child, path)
}
