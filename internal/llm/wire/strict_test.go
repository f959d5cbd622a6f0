package wire_test

import (
	"testing"

	"adze/internal/llm/wire"
	"adze/tool"
)

func TestStrictSchemas(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"all required": {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
			`{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`},
		"nothing": {`{"type":"object"}`, `{"additionalProperties":false,"properties":{},"required":[],"type":"object"}`},
		"optional": {`{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":["string","null"]}}}`,
			`{"additionalProperties":false,"properties":{"a":{"type":["string","null"]},"b":{"type":["integer","null"]}},"required":["a","b"],"type":"object"}`},
		"optional choice": {`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}}`,
			`{"additionalProperties":false,"properties":{"a":{"enum":["x","y",null],"type":["string","null"]}},"required":["a"],"type":"object"}`},
		"optional union": {`{"type":"object","properties":{"a":{"description":"d","anyOf":[{"type":"string"},{"type":"integer"}]}}}`,
			`{"additionalProperties":false,"properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}],"description":"d"}},"required":["a"],"type":"object"}`},
		"optional reference": {`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"b":{"type":"boolean"}}}}}`,
			`{"$defs":{"n":{"additionalProperties":false,"properties":{"b":{"type":["boolean","null"]}},"required":["b"],"type":"object"}},"additionalProperties":false,` +
				`"properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"required":["a"],"type":"object"}`},
		"objects in a list": {`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}}},"required":["a"]}`,
			`{"additionalProperties":false,"properties":{"a":{"items":{"additionalProperties":false,"properties":{"b":{"type":"string"}},"required":["b"],"type":"object"},"type":"array"}},"required":["a"],"type":"object"}`},
		"free names":            {`{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		"anything":              {`{"type":"object","properties":{"a":{}}}`, ""},
		"true for a property":   {`{"type":"object","properties":{"a":true}}`, ""},
		"a keyword it lacks":    {`{"type":"object","properties":{"a":{"type":"string","default":"x"}}}`, ""},
		"allOf":                 {`{"type":"object","allOf":[{"required":["a"]}]}`, ""},
		"a union at the top":    {`{"anyOf":[{"type":"object"}],"type":"object"}`, ""},
		"optional const":        {`{"type":"object","properties":{"a":{"type":"string","const":"x"}}}`, ""},
		"properties of no type": {`{"type":"object","properties":{"a":{"anyOf":[{"properties":{}}]}}}`, ""},
		"no object":             {`{"type":"array"}`, ""},
		"no schema":             {`7`, ""},
	} {
		got, ok := wire.Strict([]byte(c.schema))
		want := c.want
		if want == "" {
			want = c.schema // as it was
		}
		if string(got) != want || ok != (c.want != "") {
			t.Errorf("%s: %t\n%s\nwant\n%s", name, ok, got, want)
		}
	}
}

func TestNineID(t *testing.T) {
	seen := map[string]tool.CallID{}
	for _, id := range []tool.CallID{"D681PevKs", "call_1", "call_2", "", "abcdefgh-", "abcdefghij"} {
		got := wire.NineID(id)
		if len(got) != 9 || (got == string(id)) != (id == "D681PevKs") || seen[got] != "" || wire.NineID(id) != got {
			t.Errorf("%q became %q", id, got)
		}
		seen[got] = id
	}
}
