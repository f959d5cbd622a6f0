package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/tool"
)

// suiteGroup is one schema of the official JSON Schema test suite with values for it.
type suiteGroup struct {
	draft, file string
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// officialSuite reads the mandatory tests of drafts 2020-12 and 7. The package of npm fetches them
// from a git server, which is not reachable everywhere; the validator's own module carries a copy,
// and every machine that builds adze has that.
func officialSuite(t *testing.T) (groups []suiteGroup) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	if _, missing := os.Stat(dir); err != nil || missing != nil {
		t.Skipf("the module of the validator is not there with its test suite: %v, %v", err, missing)
	}
	for draft, uri := range map[string]string{"draft2020-12": "https://json-schema.org/draft/2020-12/schema", "draft7": "http://json-schema.org/draft-07/schema#"} {
		files, _ := filepath.Glob(filepath.Join(dir, draft, "*.json"))
		if len(files) < 30 {
			t.Fatalf("%s has %d files", draft, len(files))
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var more []suiteGroup
			if err := json.Unmarshal(raw, &more); err != nil {
				t.Fatal(err)
			}
			for _, g := range more {
				g.draft, g.file = uri, draft+"/"+filepath.Base(file)
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// parameters are the schemas of arguments for which a group is a test: its own, and one in which it
// judges a property.
func (g suiteGroup) parameters(t *testing.T) (whole, property json.RawMessage) {
	t.Helper()
	within := map[string]any{"$schema": g.draft, "type": "object", "properties": map[string]any{"value": g.Schema}, "required": []string{"value"}}
	var own map[string]json.RawMessage
	if json.Unmarshal(g.Schema, &own) == nil && own != nil {
		own["$schema"], _ = json.Marshal(g.draft)
		within["properties"] = map[string]any{"value": own}
		whole, _ = json.Marshal(own)
	}
	if !bytes.Contains(g.Schema, []byte(`"#`)) { // in another place a reference means something else
		property, _ = json.Marshal(within)
	}
	return whole, property
}

// TestTheOfficialSuite holds the validator, and then whole calls, to the official suite, as far as
// its schemas are taken: those that refer elsewhere are not. What is invalid may be repaired only
// by giving a value another type, in the open.
func TestTheOfficialSuite(t *testing.T) {
	values, calls := 0, 0
	for _, g := range officialSuite(t) {
		whole, property := g.parameters(t)
		for _, parameters := range []json.RawMessage{whole, property} {
			if parameters == nil {
				continue
			}
			check, err := tool.JSONSchema{}.Compile(parameters)
			if err != nil {
				continue
			}
			set, registered := suiteSet(t, parameters)
			for _, c := range g.Tests {
				arguments := string(c.Data)
				if bytes.Equal(parameters, property) {
					arguments = `{"value":` + arguments + `}`
				}
				var value any
				if err := json.Unmarshal([]byte(arguments), &value); err != nil {
					t.Fatal(err)
				}
				values++
				if faults := check(value); (len(faults) == 0) != c.Valid {
					t.Errorf("%s: %s: %s: %s on %s: valid is %v, faults are %v", g.file, g.Description, c.Description, arguments, parameters, c.Valid, faults)
				}
				if _, object := value.(map[string]any); !object || !registered {
					continue
				}
				calls++
				h := allowing().Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "judged", Arguments: arguments}})[0]
				if h.OK != c.Valid && !(h.OK && onlyRetyped(h.Provenance.Repair)) {
					t.Errorf("%s: %s: %s: the call %s with %s: valid is %v, accepted %v %v", g.file, g.Description, c.Description, arguments, parameters, c.Valid, h.OK, h.Errors)
				}
			}
		}
	}
	if t.Logf("%d values, %d calls", values, calls); values < 2000 || calls < 1500 {
		t.Error("the suite is not whole")
	}
}

// suiteSet is a set with one tool of these parameters; false where they are refused.
func suiteSet(t *testing.T, parameters json.RawMessage) (*tool.Set, bool) {
	t.Helper()
	var r tool.Registry
	if r.Register(tool.Define("judged", tool.Config[json.RawMessage, sayMeta]{
		Description: "takes what its schema takes", Parameters: parameters, Permissions: tool.Requires(tool.Read), Redact: tool.Expose(),
		Run: func(context.Context, tool.Context[sayMeta], json.RawMessage) (r tool.Result[sayMeta], err error) {
			return r, nil
		},
	})) != nil {
		return nil, false
	}
	set, err := r.Tools(t.Context(), tool.Init{})
	return set, err == nil
}

// onlyRetyped reports a recorded repair that gave values the type that the schema wants, and
// nothing else.
func onlyRetyped(r *tool.Repair) bool {
	return r != nil && !slices.ContainsFunc(strings.Split(r.Kind, "+"), func(step string) bool {
		return !slices.Contains([]string{"string_to_number", "string_to_boolean", "number_to_string", "array_of_one", "double_encoded"}, step)
	})
}

// TestAPropertyThatAConditionSpeaksOfIsNotDropped sends unknown properties that are empty: they are
// left out only where nothing in the schema speaks of them.
func TestAPropertyThatAConditionSpeaksOfIsNotDropped(t *testing.T) {
	for name, c := range map[string]struct {
		schema   string
		accepted bool
	}{
		"of a dependent schema":      {`{"type":"object","properties":{"a":{}},"dependentSchemas":{"a":{"properties":{"x":{}}}},"additionalProperties":false}`, false},
		"that others depend on":      {`{"type":"object","properties":{"a":{}},"dependentSchemas":{"x":{}},"additionalProperties":false}`, false},
		"that is required with one":  {`{"type":"object","properties":{"a":{}},"dependentRequired":{"b":["x"]},"additionalProperties":false}`, false},
		"of an alternative":          {`{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["x"]}],"additionalProperties":false}`, false},
		"that must not be":           {`{"type":"object","properties":{"a":{}},"not":{"required":["x"]},"additionalProperties":false}`, false},
		"of a condition":             {`{"type":"object","properties":{"a":{}},"if":{"properties":{"x":{"const":""}}},"then":{},"additionalProperties":false}`, false},
		"of a schema elsewhere":      {`{"type":"object","properties":{"a":{}},"allOf":[{"$ref":"#/$defs/d"}],"$defs":{"d":{}},"additionalProperties":false}`, false},
		"of draft 7's dependencies":  {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{}},"dependencies":{"a":["x"]},"additionalProperties":false}`, false},
		"that nothing speaks of":     {`{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]}],"additionalProperties":false}`, true},
		"without another word on it": {`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, true},
	} {
		set, ok := suiteSet(t, json.RawMessage(c.schema))
		if !ok {
			t.Fatalf("%s: the schema is refused", name)
		}
		if h := allowing().Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "judged", Arguments: `{"a":1,"x":""}`}})[0]; h.OK != c.accepted {
			t.Errorf("%s: accepted is %v: %v", name, h.OK, h.Errors)
		}
	}
}
