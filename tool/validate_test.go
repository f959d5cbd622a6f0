package tool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"adze/internal/testkit/golden"
	"adze/tool"
)

// TestSchemaKeywords runs testdata/schema: each case says of every value by the specification
// whether it is valid (ok, bad), and shows what a model reads about those that are not.
func TestSchemaKeywords(t *testing.T) {
	golden.Cases(t, "testdata/schema", func(t *testing.T, c *golden.Case) {
		check, err := tool.JSONSchema{}.Compile(json.RawMessage(c.Input))
		if err != nil {
			t.Fatal(err)
		}
		values, _ := c.Section("values")
		var told strings.Builder
		for line := range strings.Lines(values) {
			verdict, text, _ := strings.Cut(strings.TrimSpace(line), " ")
			faults := check(decoded(t, text))
			if (verdict == "ok") != (len(faults) == 0) {
				t.Errorf("%s: the specification says %s, got %v", text, verdict, faults)
			}
			if len(faults) > 0 {
				fmt.Fprintln(&told, strings.TrimSpace(text))
			}
			for _, f := range faults {
				if f.Stage != tool.StageValidate || f.Code != tool.CodeInvalidArguments {
					t.Errorf("fault %+v has another stage or code", f)
				}
				fmt.Fprintf(&told, "\t%s %s\n", f.Path, f.Message)
			}
		}
		c.Want(t, "want.faults", told.String())
	})
}

func decoded(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestMessagesQuoteNoValues(t *testing.T) {
	schema := `{"properties":{"s":{"pattern":"^x$","maxLength":2},"n":{"maximum":1},"e":{"enum":["a"]},"u":{"uniqueItems":true}},"unevaluatedProperties":{"type":"null"}}`
	check, err := tool.JSONSchema{}.Compile(json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"s":"SECRET","n":424242,"e":"SECRET","u":["SECRET","SECRET"]}`,
		`{"x":"SECRET"}`, // only the library judges this, and it quotes
	} {
		faults := check(decoded(t, text))
		if len(faults) == 0 {
			t.Fatalf("%s: accepted", text)
		}
		for _, f := range faults {
			if strings.Contains(fmt.Sprint(f), "SECRET") || strings.Contains(fmt.Sprint(f), "4242") {
				t.Errorf("%+v repeats the value", f)
			}
		}
	}
}

func TestMessagesStayShort(t *testing.T) {
	names := make([]string, 5000)
	for i := range names {
		names[i] = fmt.Sprintf("%q:{}", fmt.Sprintf("property%d", i))
	}
	check, err := tool.JSONSchema{}.Compile(json.RawMessage(`{"properties":{` + strings.Join(names, ",") + `},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check(map[string]any{strings.Repeat("ü", 1_000_000): 1.0, "zzz": 1.0}) {
		if len(f.Path)+len(f.Message) > 800 {
			t.Errorf("a fault has %d bytes", len(f.Path)+len(f.Message))
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, schema := range map[string]string{
		"no object":             `[]`,
		"null":                  `null`,
		"no JSON":               `{`,
		"remote reference":      `{"$ref":"https://example.com/s.json"}`,
		"relative reference":    `{"properties":{"a":{"$ref":"other.json"}}}`,
		"reference to nowhere":  `{"properties":{"a":{"$ref":"#/$defs/a"}}}`,
		"reference to itself":   `{"$ref":"#"}`,
		"circle of definitions": `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`,
		"circle below":          `{"properties":{"x":{"anyOf":[{"type":"null"},{"$ref":"#/properties/x"}]}}}`,
		"circle by dependency":  `{"dependentSchemas":{"x":{"$ref":"#"}}}`,
		"circle by condition":   `{"if":{"not":{"$ref":"#"}}}`,
		"circle by anchor":      `{"$dynamicAnchor":"n","allOf":[{"$dynamicRef":"#n"}]}`,
		"embedded resource":     `{"$defs":{"a":{"$id":"https://example.com/a","$ref":"#/$defs/b"}}}`,
		"bad pattern":           `{"pattern":"("}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (tool.JSONSchema{}).Compile(json.RawMessage(schema)); err == nil {
				t.Errorf("%s compiled", schema)
			}
		})
	}
}

func TestCompileAcceptsWhatOnlyLooksWrong(t *testing.T) {
	for name, schema := range map[string]string{
		"a property named $ref":         `{"properties":{"$ref":{"type":"string"},"$id":{"type":"string"}}}`,
		"a reference in data":           `{"const":{"$ref":"https://example.com"},"examples":[{"$ref":"x"}]}`,
		"names in dependentRequired":    `{"dependentRequired":{"$ref":["$id"]}}`,
		"a recursive list":              `{"properties":{"kids":{"items":{"$ref":"#"}}}}`,
		"an id of the whole":            `{"$id":"https://example.com/me","$defs":{"a":{}},"$ref":"#/$defs/a"}`,
		"two references to one":         `{"$defs":{"a":{"type":"string"}},"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}`,
		"a definition called by a name": `{"$defs":{"$ref":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/$ref"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := (tool.JSONSchema{}).Compile(json.RawMessage(schema)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDeepValues goes deeper than the walk for messages, which must then trust the library.
func TestDeepValues(t *testing.T) {
	check, err := tool.JSONSchema{}.Compile(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#"}},"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	deep := func(bottom string) any {
		return decoded(t, strings.Repeat(`{"a":`, 1200)+bottom+strings.Repeat(`}`, 1200))
	}
	if faults := check(deep(`{}`)); len(faults) != 0 {
		t.Errorf("a valid deep value: %v", faults)
	}
	if faults := check(deep(`1`)); len(faults) == 0 {
		t.Error("an invalid deep value was accepted")
	}
}

func TestVersionIsThatOfTheModule(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/google/jsonschema-go v" + (tool.JSONSchema{}).Version() + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("go.mod does not have %q", want)
	}
}
