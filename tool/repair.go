package tool

import (
	"encoding/json"
	"strings"
)

// Repair records the single fix of malformed arguments. A repair reshapes what the model wrote; it never
// invents or completes content.
type Repair struct {
	// Kind joins the steps that applied with +, in order: "double_encoded+alias".
	Kind   string          `json:"kind"`
	Before string          `json:"before"`
	After  json.RawMessage `json:"after"`
}

// repairStep returns the mended text, or false when it does not apply.
type repairStep struct {
	kind string
	mend func(p *prepared, text string) (string, bool)
}

// The order matters: the outer wrapping goes first.
func repairSteps() []repairStep {
	return []repairStep{
		{"double_encoded", unwrapString},
		{"alias", renameArguments},
	}
}

// repair makes the one attempt: every step that applies, then one more judgement. When the result is not
// valid either, the faults of the original stand.
func (h *Hydration) repair(before string, faults []Fault) (parsed, []Fault) {
	text, kinds := before, []string(nil)
	for _, step := range repairSteps() {
		if mended, ok := step.mend(h.prepared, text); ok {
			text, kinds = mended, append(kinds, step.kind)
		}
	}
	if len(kinds) == 0 {
		return parsed{}, faults
	}
	original := h.Provenance.Parsed
	args, after := h.accept(text)
	if len(after) > 0 {
		h.Provenance.Parsed = original
		return parsed{}, faults
	}
	h.Provenance.Repair = &Repair{Kind: strings.Join(kinds, "+"), Before: before, After: args.raw}
	if h.Provenance.Origin != FromText {
		h.Provenance.Origin = Repaired
	}
	return args, nil
}

// unwrapString takes an object out of a JSON string that holds it, once.
func unwrapString(_ *prepared, text string) (string, bool) {
	var inner string
	if json.Unmarshal([]byte(text), &inner) != nil {
		return "", false
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(inner), &object) != nil {
		return "", false
	}
	return inner, true
}

// renameArguments gives known argument names to aliases of them; a real name that is present wins, and
// then the alias stays, to be refused as unknown.
func renameArguments(p *prepared, text string) (string, bool) {
	var object map[string]json.RawMessage
	if len(p.argAliases) == 0 || json.Unmarshal([]byte(text), &object) != nil {
		return "", false
	}
	renamed := false
	for _, alias := range sortedKeys(p.argAliases) {
		value, used := object[alias]
		name := p.argAliases[alias]
		if _, taken := object[name]; !used || taken {
			continue
		}
		delete(object, alias)
		object[name], renamed = value, true
	}
	if !renamed {
		return "", false
	}
	raw, err := json.Marshal(object)
	return string(raw), err == nil
}
