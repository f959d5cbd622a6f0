package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/tool/schema"
)

// goodName accepts names that all providers accept: a letter, then up to 63 letters, digits, _ or
// -.
func goodName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '_' || c == '-')) {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 64
}

// check finds all errors that are known at Define.
func (d *declaration) check() error {
	f := d.face
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf("tool "+f.Name+": "+format, args...)) }
	if !d.runs {
		refuse("no Run function")
	}
	if !d.redact.declared {
		refuse("no Redact: say which fields may be logged with Expose(…), or Expose() for none")
	}
	if err := d.checkSchema(); err != nil {
		refuse("%w", err)
	}
	if f.ProviderSchema != nil {
		if err := schema.Check(f.ProviderSchema); err != nil {
			refuse("provider schema: %w", err)
		}
	}
	for _, p := range slices.Concat(f.Permissions.Required, f.Permissions.Optional) {
		if !slices.Contains([]Permission{Read, Write, Execute, Network}, p) {
			refuse("unknown permission %q", p)
		}
	}
	if !slices.Contains([]string{"", "low", "medium", "high"}, f.Safety.ThreatLevel) {
		refuse("unknown threat level %q: want low, medium or high", f.Safety.ThreatLevel)
	}
	for _, alias := range f.Aliases {
		if alias == f.Name || !goodName(alias) {
			refuse("bad alias %q", alias)
		}
	}
	if d.editable != "" && !d.argNames()[d.editable] {
		refuse("editable %q is not a property", d.editable)
	}
	for _, err := range d.checkArgAliases() {
		refuse("%w", err)
	}
	return errors.Join(errs...)
}

// checkArgAliases checks that argument aliases lead to properties, if the schema lists any. A bad
// alias would otherwise surface only when a model uses it.
func (d *declaration) checkArgAliases() (errs []error) {
	if len(d.compat.Args) == 0 {
		return nil
	}
	names := d.argNames()
	if len(names) == 0 {
		return nil
	}
	for _, alias := range slices.Sorted(maps.Keys(d.compat.Args)) {
		if in, _, nested := strings.Cut(alias, "/"); nested {
			if !names[in] {
				errs = append(errs, fmt.Errorf("argument alias %q is in %q, which is not a property", alias, in))
			}
			continue
		}
		if names[alias] {
			errs = append(errs, fmt.Errorf("argument alias %q is a property", alias))
		}
		if !names[d.compat.Args[alias]] {
			errs = append(errs, fmt.Errorf("argument alias %q stands for %q, which is not a property", alias, d.compat.Args[alias]))
		}
	}
	return errs
}

// argNames returns the argument names from the given schema or the struct.
func (d *declaration) argNames() map[string]bool {
	names := map[string]bool{}
	if d.face.Parameters == nil {
		for _, p := range d.derive().properties {
			names[p.Name] = true
		}
		return names
	}
	var schema struct{ Properties map[string]any }
	_ = json.Unmarshal(d.face.Parameters, &schema) // checkSchema reports errors
	for name := range schema.Properties {
		names[name] = true
	}
	return names
}

func (d *declaration) checkSchema() error {
	f := d.face
	if f.AllowNoSchema != (f.NoSchemaMode != "") {
		return errors.New("AllowNoSchema and NoSchemaMode go together")
	}
	if f.AllowNoSchema && !slices.Contains([]NoSchemaMode{NoSchemaReadOnly, NoSchemaApproval, NoSchemaFull}, f.NoSchemaMode) {
		return fmt.Errorf("unknown NoSchemaMode %q", f.NoSchemaMode)
	}
	if f.AllowNoSchema && f.Parameters != nil {
		return errors.New("AllowNoSchema with Parameters: a schema that is there is always checked; drop one of them")
	}
	if f.Parameters != nil && d.checked {
		return nil
	}
	if f.Parameters != nil {
		return schema.Check(f.Parameters)
	}
	if f.AllowNoSchema {
		return nil
	}
	return d.derive().err
}
