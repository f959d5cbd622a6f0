package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"adze/tool/schema"
)

// declaration is a frozen Config without its types: all tools share the code that checks and
// describes it, and only the hooks (bind.go) are compiled for each.
type declaration struct {
	face      Definition // Description not filled in, Parameters nil when derived from args, no Digest
	args      reflect.Type
	compat    Compat
	output    Bound
	editable  string
	redact    Redaction
	unoffered bool
	checked   bool                 // the schema was checked before
	runs      bool                 // has a Run
	derive    func() derivedSchema // computed once for check and definition
}

type derivedSchema struct {
	schema     json.RawMessage
	offered    json.RawMessage // the schema shown to models
	properties []schema.Property
	err        error
}

func declare[Args, Meta any](id string, c Config[Args, Meta]) *declaration {
	d := &declaration{
		face: Definition{
			Type: "function", Name: id, Description: c.Description,
			Parameters: c.Parameters, ProviderSchema: c.ProviderSchema, Strict: c.Strict,
			AllowNoSchema: c.AllowNoSchema, NoSchemaMode: c.NoSchemaMode,
			Safety: c.Safety, Capabilities: c.Capabilities, Tags: c.Tags, Roles: c.Roles,
			Aliases: c.Aliases, Permissions: c.Permissions, CostClass: c.CostClass,
		},
		args: reflect.TypeFor[Args](), compat: c.Compat.clone(), output: c.Output, editable: c.Editable, redact: c.Redact,
		unoffered: c.Unoffered, checked: c.Checked, runs: c.Run != nil,
	}
	d.face = d.face.Clone() // the author could still change the original
	d.derive = deriveOnce(d.args)
	return d
}

func deriveOnce(args reflect.Type) func() derivedSchema {
	return sync.OnceValue(func() (d derivedSchema) {
		if d.schema, d.properties, d.err = schema.Of(args); d.err == nil {
			d.offered, d.err = schema.Offer(args, d.properties)
		}
		return d
	})
}

// define creates the definition of a checked declaration. It shares data with the declaration, so
// hand out copies only.
func (d *declaration) define(in Init) (Definition, error) {
	def := d.face
	var err error
	if def.Description, err = fill(def.Description, in); err != nil {
		return Definition{}, fmt.Errorf("tool %s: %w", def.Name, err)
	}
	if def.Parameters == nil {
		args := d.derive()
		switch {
		case args.err == nil:
			def.Parameters = args.schema
			if def.ProviderSchema == nil && (def.Strict == nil || !*def.Strict) { // a strict schema is shown as it validates
				def.ProviderSchema = args.offered
			}
		case def.AllowNoSchema:
			def.Parameters = json.RawMessage(`{"type":"object"}`) // any object
		default:
			return Definition{}, fmt.Errorf("tool %s: %w", def.Name, args.err)
		}
	}
	def.Digest = def.sum()
	return def, nil
}

// ErrNoSchema is returned for arguments without a derivable schema.
var ErrNoSchema = schema.ErrNone

// SchemaOf derives a JSON Schema (2020-12) from a struct. Properties are in field order, so the
// bytes are stable. Field tags: json (name, omitempty = optional), doc (description), enum (comma
// separated), min and max (numbers). Unknown properties are refused.
func SchemaOf[Args any]() (json.RawMessage, error) {
	schema, _, err := schema.Of(reflect.TypeFor[Args]())
	return schema, err
}

// OfferOf derives the model's view of a struct's schema: without bounds, optional fields tagged
// offer:"-", and descriptions that offer:"plain" marks as obvious from the name.
func OfferOf[Args any]() (json.RawMessage, error) {
	_, properties, err := schema.Of(reflect.TypeFor[Args]())
	if err != nil {
		return nil, err
	}
	return schema.Offer(reflect.TypeFor[Args](), properties)
}
