package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	for _, err := range checkArgAliases(c.ArgAliases, c.Parameters, SchemaOf[Args]) {
		refuse("%w", err)
	}
	return errors.Join(errs...)
}

// checkArgAliases compares aliases of arguments with the properties of a schema that lists some: an alias
// that leads nowhere would only show when a model uses it.
func checkArgAliases(aliases map[string]string, params json.RawMessage, derive func() (json.RawMessage, error)) (errs []error) {
	if len(aliases) == 0 {
		return nil
	}
	if params == nil {
		params, _ = derive()
	}
	var schema struct{ Properties map[string]any }
	if json.Unmarshal(params, &schema) != nil || len(schema.Properties) == 0 {
		return nil
	}
	for _, alias := range sortedKeys(aliases) {
		if _, real := schema.Properties[alias]; real {
			errs = append(errs, fmt.Errorf("argument alias %q is a property", alias))
		}
		if _, real := schema.Properties[aliases[alias]]; !real {
			errs = append(errs, fmt.Errorf("argument alias %q stands for %q, which is not a property", alias, aliases[alias]))
		}
	}
	return errs
}

func checkSchema(params json.RawMessage, allowNone bool, mode NoSchemaMode, derive func() (json.RawMessage, error)) error {
	if allowNone != (mode != "") {
		return errors.New("AllowNoSchema and NoSchemaMode go together")
	}
	if allowNone && !slices.Contains([]NoSchemaMode{NoSchemaReadOnly, NoSchemaApproval, NoSchemaFull}, mode) {
		return fmt.Errorf("unknown NoSchemaMode %q", mode)
	}
	if allowNone && params != nil {
		return errors.New("AllowNoSchema with Parameters: a schema that is there is always checked; drop one of them")
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
