package tool

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"adze/tool/laxjson"
	"adze/tool/schema"
)

// Repair records the single fix of a call's arguments. A repair reshapes the model's text but never
// invents or completes content: truncated arguments stay refused, and no character in a value
// changes.
type Repair struct {
	// Kind joins the applied steps with +, in order: "double_encoded+alias".
	Kind   string          `json:"kind"`
	Before string          `json:"before"`
	After  json.RawMessage `json:"after"`
	// Dropped lists JSON pointers to removed values that are empty or only comment on the call; at
	// most 20.
	Dropped []string `json:"dropped,omitempty"`
}

// Guessed reports whether the fix did more than translate names and should be shown. False for nil.
func (r *Repair) Guessed() bool {
	if r == nil {
		return false
	}
	for step := range strings.SplitSeq(r.Kind, "+") {
		if step != stepAlias && step != stepName {
			return true
		}
	}
	return false
}

// Repair steps that fit values to the schema; those for text that is not JSON are with the reader.
const (
	stepDouble   = "double_encoded"    // a string with the expected value as JSON
	stepWrapped  = "wrapped"           // {"arguments":{…}} instead of the arguments, or a list with one element
	stepAlias    = "alias"             // another name used by models
	stepName     = "name_variant"      // filePath, file-path or FilePath for file_path
	stepNumber   = "string_to_number"  // "10" where only a number fits
	stepBoolean  = "string_to_boolean" // "true" where only a boolean fits
	stepString   = "number_to_string"  // 10 where only a string fits
	stepArray    = "array_of_one"      // one value where only an array fits
	stepNull     = "null_dropped"      // null for an optional property
	stepUnknown  = "unknown_dropped"   // an unknown property without meaning
	stepDialect  = "dialect"           // a value or argument explained by Compat
	maxDropped   = 20                  // pointers in a record
	repairAtMost = 16 << 20            // larger arguments are not repaired, in bytes
)

type fixes struct {
	kinds   laxjson.Steps
	dropped []string
}

func (f *fixes) drop(path string) {
	if len(f.dropped) < maxDropped {
		f.dropped = append(f.dropped, path)
	}
}

func (f *fixes) addFix(kind string) { f.kinds.Add(kind) }

// repair makes one attempt with all applicable steps, then validates again. If the result is
// invalid too, the model is told only the remaining faults, since its other names are understood.
func (h *Hydration) repair(before string, faults []Fault) (parsedObject, []Fault) {
	text, did := mend(h.prepared, before)
	if len(did.kinds) == 0 {
		return parsedObject{}, faults
	}
	original := h.Provenance.Parsed
	args, after := h.accept(text)
	switch {
	case len(after) > 0:
		h.Provenance.Parsed = original
		return parsedObject{}, after
	case did.spoken():
		h.Provenance.Dialect = did.record(before, args)
		h.aliased()
	default:
		h.Provenance.Repair = did.record(before, args)
		if h.Provenance.Origin != FromText {
			h.Provenance.Origin = Repaired
		}
	}
	return args, nil
}

func (f *fixes) record(before string, after parsedObject) *Repair {
	return &Repair{Kind: strings.Join(f.kinds, "+"), Before: before, After: after.raw, Dropped: f.dropped}
}

// mend makes one pass over the arguments: it parses near-JSON, then fits it to the schema. An empty
// kind means that no step applied, as when the text is ambiguous.
func mend(p *initTool, text string) (string, fixes) {
	if len(text) > repairAtMost || !utf8.ValidString(text) {
		return "", fixes{}
	}
	var did fixes
	root, ok := laxjson.Arguments(text, &did.kinds)
	if ok && root.Kind == laxjson.String && strings.HasPrefix(strings.TrimSpace(root.Text), "{") {
		did.addFix(stepDouble)
		root, ok = laxjson.Arguments(root.Text, &did.kinds)
	}
	if ok && root.Kind == laxjson.Array && len(root.Items) == 1 {
		did.addFix(stepWrapped) // [{…}]
		root = root.Items[0]
	}
	if !ok || root.Kind != laxjson.Object {
		return "", fixes{}
	}
	if shapes, err := schema.ReadShapes(p.def.Parameters); err == nil {
		m := mender{prepared: p, shapes: shapes, fixes: &did}
		m.top(root)
	}
	return root.String(), did
}
