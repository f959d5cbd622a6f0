package schema_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"adze/tool/schema"
)

// TestTheLibraryGetsWhatWasJudged: a keyword in other letters means nothing, and of two equal names
// the last counts, so that no reference hides from the judge. Each of these killed the process, or
// refused what is right.
func TestTheLibraryGetsWhatWasJudged(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		value  any
		valid  bool
	}{
		"a circle in other letters":          {`{"$reF":"#"}`, 1.0, true},
		"in capitals, behind a choice":       {`{"$defs":{"a":{"allOf":[{"$REF":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, 1.0, true},
		"a circle behind an equal name":      {`{"not":{"$ref":"#"},"not":{"type":"null"}}`, 1.0, true},
		"one in a table that is named twice": {`{"properties":{"a":{"$ref":"http://x/"}},"properties":{"b":{"type":"string"}}}`, map[string]any{"a": 1.0}, true},
		"a type in other letters":            {`{"Type":"string"}`, 1.0, true},
		"beside the right one":               {`{"type":"string","TYPE":"number"}`, 1.0, false},
		"a letter that folds":                {"{\"unevaluatedItem\u017f\":false,\"type\":\"array\"}", []any{1.0}, true},
		"a property may be called so":        {`{"properties":{"Type":{"type":"string"}},"required":["Type"]}`, map[string]any{"Type": 1.0}, false},
		"and so may data":                    {`{"const":{"Type":1}}`, map[string]any{"Type": 1.0}, true},
		"a number that no float holds":       {`{"const":12345678901234567890123}`, 1.0, false},
	} {
		t.Run(name, func(t *testing.T) {
			check, err := schema.Compile(json.RawMessage(c.schema))
			if err != nil {
				t.Fatal(err)
			}
			if faults := check(c.value); len(faults) == 0 != c.valid {
				t.Errorf("%v", faults)
			}
		})
	}
}

// TestEveryKeywordOfTheLibraryIsKnown: in other letters each of them means nothing.
func TestEveryKeywordOfTheLibraryIsKnown(t *testing.T) {
	of := reflect.TypeFor[jsonschema.Schema]()
	names := []string{"type", "items", "const", "dependencies"} // those it decodes by hand
	for i := range of.NumField() {
		if name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	if len(names) < 50 {
		t.Fatalf("the library has %q", names)
	}
	for _, name := range names {
		other := strings.ToUpper(name)
		if _, err := schema.Compile(json.RawMessage(`{"` + other + `":` + `{"a":"b"}` + `}`)); err != nil {
			t.Errorf("%s: %v", other, err)
		}
		check, err := schema.Compile(json.RawMessage(`{"` + other + `":false}`))
		if err != nil || len(check(1.0)) > 0 {
			t.Errorf("%s is taken for %s: %v", other, name, err)
		}
	}
}
