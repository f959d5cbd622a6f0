package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/tool"
)

// FuzzHydrate: whatever a model writes, hydration does not panic, tells all or nothing, never
// alters what was valid, and Run gets only what the schema allows.
func FuzzHydrate(f *testing.F) {
	for _, arguments := range []string{
		`{"text":"safe","mode":"a","n":3}`, `{"Text":"evil"}`, `{"text":"safe","TEXT":"evil"}`, `{"text":"safe","text":"evil"}`,
		`"{\"text\":\"safe\"}"`, `{"message":"safe"}`, `{"list":[{"k":"a"},{"K":"b"}]}`, `{"o":{"k":"a"},"o":{}}`,
		"", "null", "[]", "{", `{"n":1e0}`, `{"n":10.0}`, `{"n":1e400}`, "{\"text\":\"\xff\"}", `{"list":[[[[]]]]}`, `{"text":"safe\u0000"}`,
	} {
		f.Add(arguments, false)
		f.Add(arguments, true)
	}
	var got *fuzzArgs
	closed, open := fuzzTool(f, &got, false), fuzzTool(f, &got, true)
	r := allowing()
	f.Fuzz(func(t *testing.T, arguments string, strict bool) {
		set := open
		if strict {
			set = closed
		}
		got = nil
		h := r.Hydrate(t.Context(), set, []tool.RawCall{{ID: "1", Name: "fuzz", Arguments: arguments}})[0]
		if h.OK != (len(h.Errors) == 0) || h.Provenance.Original != arguments {
			t.Fatalf("%+v", h)
		}
		for _, fault := range h.Errors {
			if fault.Stage == "" || fault.Code == "" || fault.Code == tool.CodePanic || fault.Message == "" || !utf8.ValidString(fault.Message) {
				t.Fatalf("fault %+v", fault)
			}
		}
		o := r.Exec(t.Context(), h)
		if !h.OK {
			if o.Status != tool.Invalid || got != nil {
				t.Fatalf("%s, ran %v", o.Status, got)
			}
			return
		}
		if o.Status != tool.Completed || got == nil {
			t.Fatalf("%s %s", o.Status, o.Output)
		}
		got.check(t)
		if mended(h) == nil {
			unaltered(t, arguments, string(h.Provenance.Validated))
		} else if !json.Valid(mended(h).After) || h.Provenance.Origin != tool.Repaired && h.Provenance.Origin != tool.Alias {
			t.Fatalf("%+v", h.Provenance)
		}
	})
}

type fuzzItem struct {
	K string `json:"k,omitempty"`
}

type fuzzArgs struct {
	Text string     `json:"text,omitempty"`
	Mode string     `json:"mode,omitempty"`
	N    int        `json:"n,omitempty"`
	O    fuzzItem   `json:"o,omitempty"`
	List []fuzzItem `json:"list,omitempty"`
}

// check says in Go what the schema of fuzzTool says.
func (a fuzzArgs) check(t *testing.T) {
	ok := (a.Text == "" || strings.HasPrefix(a.Text, "safe")) && (a.Mode == "" || a.Mode == "a" || a.Mode == "b") && a.N >= 0 && a.N <= 9
	for _, item := range append(a.List, a.O) {
		ok = ok && (item.K == "" || item.K == "a")
	}
	if !ok || len(a.List) > 3 {
		t.Fatalf("ran with %+v", a)
	}
}

// unaltered: valid arguments run as they were written.
func unaltered(t *testing.T, written, validated string) {
	if text := strings.TrimSpace(written); text != validated && !(validated == "{}" && (text == "" || text == "null")) {
		t.Fatalf("%q became %q", written, validated)
	}
}

// fuzzTool has a schema by hand; open, it takes properties that the schema does not list.
func fuzzTool(t testing.TB, got **fuzzArgs, open bool) *tool.Set {
	schema := `{"type":"object","$defs":{"item":{"type":"object","properties":{"k":{"const":"a"}}CLOSED}},
		"properties":{"text":{"type":"string","pattern":"^safe"},"mode":{"enum":["a","b"]},"n":{"type":"integer","minimum":0,"maximum":9},
		"o":{"$ref":"#/$defs/item"},"list":{"type":"array","maxItems":3,"items":{"$ref":"#/$defs/item"}}}CLOSED}`
	closed := `,"additionalProperties":false`
	if open {
		closed = ""
	}
	return setOf(t, tool.Define("fuzz", tool.Config[fuzzArgs, sayMeta]{
		Redact: tool.Expose("mode"), Parameters: rawJSON(strings.ReplaceAll(schema, "CLOSED", closed)),
		Compat: tool.Compat{Args: map[string]string{"message": "text", "count": "n"}},
		Run: func(_ context.Context, _ tool.Context[sayMeta], in fuzzArgs) (r tool.Result[sayMeta], err error) {
			*got = &in
			return r, nil
		},
	}))
}

// FuzzSchema: no schema and no value make the validator panic or run for ever, and what it refuses
// it explains.
func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"a":"x"}`},
		{`{"$ref":"#"}`, `1`}, {`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, `1`},
		{`{"items":{"$ref":"#"}}`, `[[[[]]]]`}, {`{"not":{"const":1},"multipleOf":0.01}`, `4.35`},
		{`{"if":{"type":"string"},"then":false,"unevaluatedProperties":false}`, `"a"`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}],"additionalItems":false,"dependencies":{"a":["b"]}}`, `[1,2]`},
		{`{"oneOf":[{"minimum":1},{"contains":{"const":null},"uniqueItems":true}],"patternProperties":{"(":{}}}`, `[null,null]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		var v any
		if len(schema) > 500 || len(value) > 500 || json.Unmarshal([]byte(value), &v) != nil {
			return
		}
		check, err := tool.JSONSchema{}.Compile(json.RawMessage(schema))
		if err != nil {
			return
		}
		faults := check(v)
		if len(faults) > 21 {
			t.Fatalf("%d faults", len(faults))
		}
		for _, fault := range faults {
			if fault.Message == "" || (fault.Path != "" && fault.Path[0] != '/') {
				t.Fatalf("fault %+v", fault)
			}
		}
	})
}
