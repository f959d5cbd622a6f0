package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"adze/tool/schema"
)

// declaration is a Config without its types, frozen: what is checked and described is the same code
// for every tool, and only the hooks (bind.go) are compiled for each.
type declaration struct {
	face      Definition // Description not filled in, Parameters nil when they come from args, no Digest
	args      reflect.Type
	compat    Compat
	output    Bound
	editable  string
	redact    Redaction
	unoffered bool
	checked   bool                 // its schema was, before
	runs      bool                 // it has a Run
	derive    func() derivedSchema // what args say, made once for check and definition
}

type derivedSchema struct {
	schema     json.RawMessage
	offered    json.RawMessage // what a model is shown of it
	properties []schema.Property
	err        error
}

// declare takes what an author wrote.
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
	d.face = d.face.Clone() // an author could still change theirs
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

// define makes the public face of a declaration that check accepted. It shares what the declaration
// holds: nobody gets it but as a copy.
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
			if def.ProviderSchema == nil && (def.Strict == nil || !*def.Strict) { // a strict one is shown as it validates
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

// ErrNoSchema is returned for arguments from which no schema can be derived.
var ErrNoSchema = schema.ErrNone

// SchemaOf derives a JSON Schema (2020-12) from a struct. Properties stand in field order, so the
// bytes are stable. Field tags: json (name, omitempty = optional), doc (description), enum (comma
// separated), min and max (numbers). Unknown properties are refused.
func SchemaOf[Args any]() (json.RawMessage, error) {
	schema, _, err := schema.Of(reflect.TypeFor[Args]())
	return schema, err
}

// OfferOf derives the view that a model is shown of the schema of a struct: without bounds, without
// optional fields with the tag offer:"-", and without what offer:"plain" says that its name says.
func OfferOf[Args any]() (json.RawMessage, error) {
	_, properties, err := schema.Of(reflect.TypeFor[Args]())
	if err != nil {
		return nil, err
	}
	return schema.Offer(reflect.TypeFor[Args](), properties)
}
