package wire_test

import (
	"testing"

	"adze/internal/llm/wire"
	"adze/tool"
)

func TestStrictSchemas(t *testing.T) {
	const closed = `"required":["a"],"additionalProperties":false}`
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":["string","null"]}},` + closed:                                                                                                    true,
		`{"type":"object","properties":{"b":{"type":"integer"},"a":{"enum":["x"]}},"required":["b","a"],"additionalProperties":false}`:                                                true,
		`{"type":"object","properties":{},"required":[],"additionalProperties":false}`:                                                                                                true,
		`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}},"$defs":{"n":{"type":"object","properties":{"a":{"const":1}},` + closed + `},` + closed: true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}},` + closed + `}},` + closed:                                 true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"}}}}},` + closed:                                               false,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},` + closed:                                                                                       false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                                     false,
		`{"type":"object","additionalProperties":{"type":"string"}}`:                                                                                                                  false,
		`{"type":"object"}`: false,
		`{"type":"object","properties":{"a":{}},` + closed:                                       false,
		`{"type":"object","properties":{"a":true},` + closed:                                     false,
		`{"type":"object","properties":{"a":{"type":"string","default":"x"}},` + closed:          false,
		`{"type":"object","properties":{"a":{"anyOf":[{"properties":{}}]}},` + closed:            false,
		`{"anyOf":[{"type":"object"}],"type":"object","properties":{"a":{"enum":[1]}},` + closed: false,
		`{"type":"array"}`: false,
		`7`:                false,
	} {
		if got := wire.IsStrict([]byte(schema)); got != want {
			t.Errorf("%s: %t", schema, got)
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
