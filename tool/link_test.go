package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"adze/tool"

	"github.com/google/go-cmp/cmp"
)

// linkedTool is a tool of any arguments whose schema may refer to others.
func linkedTool(schema string, refs map[string]string) tool.Tool {
	given := map[string]json.RawMessage{}
	for uri, text := range refs {
		given[uri] = json.RawMessage(text)
	}
	return tool.Define("x", tool.Config[map[string]any, sayMeta]{
		Parameters: rawJSON(schema), Refs: given, Redact: tool.Expose(),
		Run: func(context.Context, tool.Context[sayMeta], map[string]any) (r tool.Result[sayMeta], err error) {
			return r, nil
		},
	})
}

func TestRefsAreCopiedIntoTheSchema(t *testing.T) {
	const place = "https://schemas.example/place.json"
	schema := `{"type": "object", "properties": {"at": {"$ref": "` + place + `"}, "kind": {"$ref": "common.json#/$defs/kind"}, "$ref": {"const": {"$ref": "no reference"}}}, "$defs": {"place": {"type": "null"}}}`
	one := linkedTool(schema, map[string]string{
		place:         `{"$id":"` + place + `","$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"x":{"$ref":"#/$defs/n"},"next":{"$ref":"#"},"kind":{"$ref":"common.json#/$defs/kind"}},"required":["x"],"$defs":{"n":{"type":"number"}}}`,
		"common.json": `{"$defs":{"kind":{"enum":["a","b"]}}}`,
		"unused.json": `not even JSON`,
	})
	set := setOf(t, one)
	d, _ := set.Get("x")
	want := `{"type":"object","properties":{"at":{"$ref":"#/$defs/place_2"},"kind":{"$ref":"#/$defs/common/$defs/kind"},"$ref":{"const":{"$ref":"no reference"}}},"$defs":{` +
		`"place":{"type":"null"},` +
		`"place_2":{"type":"object","properties":{"x":{"$ref":"#/$defs/place_2/$defs/n"},"next":{"$ref":"#/$defs/place_2"},"kind":{"$ref":"#/$defs/common/$defs/kind"}},"required":["x"],"$defs":{"n":{"type":"number"}}},` +
		`"common":{"$defs":{"kind":{"enum":["a","b"]}}}}}`
	if diff := cmp.Diff(want, string(d.Parameters)); diff != "" {
		t.Error(diff)
	}
	for arguments, ok := range map[string]bool{
		`{"at":{"x":1,"next":{"x":2,"kind":"b"}},"kind":"a"}`: true,
		`{"at":{"x":"one"}}`:              false,
		`{"at":{"x":1,"next":{}}}`:        false,
		`{"kind":"c"}`:                    false,
		`{"at":{"x":1,"next":{"x":"2"}}}`: true, // mended behind two references
	} {
		if h := hydrateOne(t, allowing(), set, arguments); h.OK != ok {
			t.Errorf("%s: ok %t, %v", arguments, h.OK, h.Errors)
		}
	}
}

func TestRefsOfDraft7(t *testing.T) {
	one := linkedTool(`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"n.json"}}}`, map[string]string{"n.json": `{"type":"number"}`})
	d, _ := setOf(t, one).Get("x")
	want := `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n"}},"definitions":{"n":{"type":"number"}}}`
	if string(d.Parameters) != want {
		t.Errorf("schema %s", d.Parameters)
	}
}

func TestSchemasWithoutOutsideReferencesStayVerbatim(t *testing.T) {
	schema := `{ "type" : "object" , "properties" : { "a" : { "$ref" : "#/$defs/a" } } , "$defs" : { "a" : { } } }`
	d, _ := setOf(t, linkedTool(schema, map[string]string{"other.json": `{}`})).Get("x")
	if string(d.Parameters) != schema {
		t.Errorf("schema %s", d.Parameters)
	}
}

func TestRefsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		refs   map[string]string
		want   string
	}{
		"not given":             {`{"$ref":"https://a.example/x.json"}`, map[string]string{"https://a.example/y.json": `{}`}, "is not local"},
		"nothing given":         {`{"$ref":"https://a.example/x.json"}`, nil, "or give its schema in Refs"},
		"given needs another":   {`{"$ref":"a.json"}`, map[string]string{"a.json": `{"items":{"$ref":"b.json"}}`}, "b.json is not local"},
		"given is no JSON":      {`{"$ref":"a.json"}`, map[string]string{"a.json": `{,}`}, "reference a.json: the schema is not valid JSON"},
		"pointer to nowhere":    {`{"$ref":"a.json#/$defs/z"}`, map[string]string{"a.json": `{}`}, "leads nowhere"},
		"by an anchor":          {`{"$ref":"a.json#z"}`, map[string]string{"a.json": `{"$defs":{"z":{"$anchor":"z"}}}`}, "goes to an anchor"},
		"anchors inside":        {`{"$ref":"a.json"}`, map[string]string{"a.json": `{"$defs":{"z":{"$anchor":"z"}}}`}, "anchors are not supported"},
		"another draft":         {`{"$ref":"a.json"}`, map[string]string{"a.json": `{"$schema":"http://json-schema.org/draft-07/schema#"}`}, "another draft"},
		"a circle":              {`{"$ref":"a.json"}`, map[string]string{"a.json": `{"$ref":"b.json"}`, "b.json": `{"$ref":"a.json"}`}, "circle"},
		"an embedded resource":  {`{"$ref":"a.json"}`, map[string]string{"a.json": `{"$defs":{"b":{"$id":"https://a.example/b"}}}`}, "embedded resource"},
		"the schema is no JSON": {`{`, map[string]string{"a.json": `{}`}, "not valid JSON"},
	} {
		var r tool.Registry
		if err := r.Register(linkedTool(c.schema, c.refs)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.want)
		}
	}
}

func TestRefsWorkInBothStylesAndForProviderSchemas(t *testing.T) {
	var r tool.Registry
	refs := map[string]json.RawMessage{"n.json": rawJSON(`{"type":"number"}`)}
	err := r.Register(tool.DefineFunc("lazy", func(context.Context, tool.Init) (tool.Config[map[string]any, sayMeta], error) {
		return tool.Config[map[string]any, sayMeta]{
			Parameters: rawJSON(`{"properties":{"a":{"$ref":"n.json"}}}`), ProviderSchema: rawJSON(`{"items":{"$ref":"n.json"}}`), Refs: refs, Redact: tool.Expose(),
			Run: func(context.Context, tool.Context[sayMeta], map[string]any) (r tool.Result[sayMeta], err error) {
				return r, nil
			},
		}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	d, ok := r.Get("lazy")
	if !ok || string(d.Parameters) != `{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}` ||
		string(d.Offered()) != `{"items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"number"}}}` {
		t.Errorf("%t %s %s", ok, d.Parameters, d.ProviderSchema)
	}
}

func TestRegistryCompilesEarlyWhenAsked(t *testing.T) {
	bad := linkedTool(`{"$schema":"http://example.org/no-dialect#","properties":{"a":{"$ref":"#/x-there"}},"x-there":7}`, nil)
	for _, eager := range []bool{false, true} {
		r := tool.Registry{Eager: eager}
		if err := r.Register(bad); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Tools(t.Context(), tool.Init{}); (err != nil) != eager {
			t.Errorf("eager %t: %v", eager, err)
		}
	}
}

func TestRegisterJudgesTheThreatLevel(t *testing.T) {
	for _, c := range []struct {
		safety tool.Safety
		want   string
	}{
		{tool.Safety{ThreatLevel: "huge"}, `unknown threat level "huge"`},
		{tool.Safety{Safe: true, ThreatLevel: "low", RequiresApproval: true}, ""},
	} {
		var r tool.Registry
		err := r.Register(say("x", func(cfg *sayConfig) { cfg.Safety = c.safety }))
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.safety, err)
		}
	}
}
