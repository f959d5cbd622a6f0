package tool_test

import (
	"context"
	"testing"

	"adze/tool"
)

// FuzzRepairBySchema: whatever a schema says, a repair ends, does not panic, and what it makes is
// final.
func FuzzRepairBySchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"properties":{"a":{"type":"array","items":{"$ref":"#/properties/a"}}}}`, `{"a":5}`},
		{`{"properties":{"a":{"type":"array"}},"items":{"type":"array"}}`, `{"a":"[[1]"}`},
		{`{"anyOf":[{"$ref":"#/$defs/o"},{"type":"null"}],"$defs":{"o":{"properties":{"a_b":{"type":"integer"}},"additionalProperties":false}}}`, `{"aB":"1"}`},
		{`{"additionalProperties":{"type":["integer","null"]}}`, `{'a':'1','b':None}`},
		{`{"properties":{"a":false,"b":true},"required":["b"],"additionalProperties":false}`, `{"B":1,"x":""}`},
		{`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`, `{"x":1,"y":null}`},
		{`{"type":"object","properties":{"arguments":{"type":"object"}},"additionalProperties":false}`, `{"arguments":"{}"}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","type":"string"}},"definitions":{"n":{"type":"number"}}}`, `{"a":"1"}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		if len(schema) > 500 || len(arguments) > 500 {
			return
		}
		var r tool.Registry
		if r.Register(schemaTool(schema)) != nil {
			return
		}
		set, err := r.Tools(t.Context(), tool.Init{})
		if err != nil {
			t.Fatal(err)
		}
		h := hydrateNamed(t, set, "x", arguments)
		provenanceHolds(t, schema, h)
		for _, fault := range h.Errors {
			if fault.Code == tool.CodePanic && fault.Stage == tool.StageInstantiate {
				t.Fatalf("%+v", fault)
			}
		}
		if h.OK && h.Provenance.Repair != nil {
			if again := hydrateNamed(t, set, "x", string(h.Provenance.Validated)); !again.OK || again.Provenance.Repair != nil {
				t.Fatalf("%s became %s, which is not final: %v", arguments, h.Provenance.Validated, again.Errors)
			}
			written(t, readings(arguments), decoded(t, string(h.Provenance.Validated)))
		}
	})
}

// schemaTool is a tool of any arguments with a schema.
func schemaTool(schema string) tool.Tool {
	return tool.Define("x", tool.Config[map[string]any, sayMeta]{
		Parameters: rawJSON(schema), Redact: tool.Expose(),
		Run: func(context.Context, tool.Context[sayMeta], map[string]any) (r tool.Result[sayMeta], err error) {
			return r, nil
		},
	})
}
