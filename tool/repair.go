package tool

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"adze/tool/laxjson"
	"adze/tool/schema"
)

// Repair records the single fix of arguments. A repair reshapes what the model wrote; it never
// invents or completes content: what ends too early stays refused, and no character of a value
// changes.
type Repair struct {
	// Kind joins the steps that applied with +, in order: "double_encoded+alias".
	Kind   string          `json:"kind"`
	Before string          `json:"before"`
	After  json.RawMessage `json:"after"`
	// Dropped are JSON pointers to what was left out because it says nothing, or only talks about
	// the call; at most 20.
	Dropped []string `json:"dropped,omitempty"`
}

// Guessed reports a fix that is worth a look: one that did more than understand other names. A nil
// Repair is none.
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

// Steps of a repair that fit values to the schema; those that read text that is not JSON are with
// the reader.
const (
	stepDouble   = "double_encoded"    // a string that holds the JSON of what the schema wants
	stepWrapped  = "wrapped"           // {"arguments":{…}} instead of the arguments, or a list of one
	stepAlias    = "alias"             // a name that models use instead
	stepName     = "name_variant"      // filePath, file-path or FilePath for file_path
	stepNumber   = "string_to_number"  // "10" where only a number fits
	stepBoolean  = "string_to_boolean" // "true" where only a boolean fits
	stepString   = "number_to_string"  // 10 where only a string fits
	stepArray    = "array_of_one"      // one value where only an array fits
	stepNull     = "null_dropped"      // null for an optional property
	stepUnknown  = "unknown_dropped"   // a property that does not exist and says nothing
	stepDialect  = "dialect"           // a value or an argument that Compat explains
	maxDropped   = 20                  // pointers in a record
	repairAtMost = 16 << 20            // bytes of arguments that are worth mending
)

// fixes is what a repair did.
type fixes struct {
	kinds   laxjson.Steps
	dropped []string
}

func (f *fixes) drop(path string) {
	if len(f.dropped) < maxDropped {
		f.dropped = append(f.dropped, path)
	}
}

func (f *fixes) did(kind string) { f.kinds.Add(kind) }

// repair makes the one attempt: every step that applies, then one more judgement. When the result
// is not valid either, the model is told what is left: its other names are understood beside one
// that is not.
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

// mend makes one pass over the arguments: it reads what is almost JSON, then fits it to the schema.
// Nothing applied when no kind is recorded, also where the text cannot be read with certainty.
func mend(p *initTool, text string) (string, fixes) {
	if len(text) > repairAtMost || !utf8.ValidString(text) {
		return "", fixes{}
	}
	var did fixes
	root, ok := laxjson.Arguments(text, &did.kinds)
	if ok && root.Kind == laxjson.String && strings.HasPrefix(strings.TrimSpace(root.Text), "{") {
		did.did(stepDouble)
		root, ok = laxjson.Arguments(root.Text, &did.kinds)
	}
	if ok && root.Kind == laxjson.Array && len(root.Items) == 1 {
		did.did(stepWrapped) // [{…}]
		root = root.Items[0]
	}
	if !ok || root.Kind != laxjson.Object {
		return "", fixes{}
	}
	if shapes, err := schema.ReadShapes(p.def.Parameters); err == nil {
		m := mender{prepared: p, shapes: shapes, did: &did}
		m.top(root)
	}
	return root.String(), did
}
