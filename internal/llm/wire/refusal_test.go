package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

// The wordings follow public reports: Anthropic, OpenAI, DeepSeek, Groq, Alibaba, Google, Amazon,
// vLLM.
func TestTheBoundOfARefusal(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]int{
		"max_tokens: 32000 > 8192, the highest number of output tokens of claude-3-5-sonnet-20241022":                                          8192,
		"max_tokens is too large: 32000. This model supports at most 16384 completion tokens":                                                  16384,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                                                 8192,
		"400: InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]":                                                    8192,
		"`max_tokens` must be less than or equal to `8192`, the largest value is less than the `context_window`":                               8192,
		"Unable to submit request: maxOutputTokens is 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive)":               65536,
		"The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.":     4095,
		"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens`":                   11760,
		"'max_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 5000 input tokens (32000)": 27768,
		"max_tokens must be an integer": 0,
	} {
		r := &Refusal{Status: 400, Text: strings.ToLower(said)}
		if got, _ := r.bound(); got != want || !r.matches(aboutBound) {
			t.Errorf("%s: %d, want %d", said, got, want)
		}
	}
}

func TestARefusalNamesItsTools(t *testing.T) {
	t.Parallel()
	offered := []tool.Definition{{Name: "read"}, {Name: "odata_list"}, {Name: "browser"}}
	for said, want := range map[string][]string{
		"tools.1.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'":                                                                                                                    {"odata_list"},
		"tools.2.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level":                                                                                                                     {"browser"},
		"Invalid schema for function 'odata_list': In context=('properties', 'tags'), array schema missing items.":                                                                                                               {"odata_list"},
		"GenerateContentRequest.tools[0].function_declarations[2].parameters.properties[data].properties: only allowed for OBJECT type":                                                                                          {"browser"},
		"* GenerateContentRequest.tools[0].function_declarations[0].parameters.required[0]: property is not defined\n* GenerateContentRequest.tools[0].function_declarations[2].parameters.required[0]: property is not defined": {"browser", "read"},
		"Unable to submit request because odata_list functionDeclaration parameters schema should be of type OBJECT":                                                                                                             {"odata_list"},
		"The value at toolConfig.tools.2.member.toolSpec.inputSchema.json.type must be one of the following: object.":                                                                                                            {"odata_list"},
	} {
		r := &Refusal{Status: 400, Text: strings.ToLower(said)}
		if got := r.tools(offered); !slices.Equal(got, want) || !r.matches(aboutSchema) || NoTools(&session.ProviderError{Kind: session.RequestError, Err: r}) {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}

func TestSchemasThatEveryServerTakes(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                     "",
		`{"type":"object","properties":{"$filter":{"type":"string"}},"required":["$filter"]}`:                                         "",
		`{"type":"object","properties":{"tags":{"type":"array"}}}`:                                                                    `{"properties":{"tags":{"items":{},"type":"array"}},"type":"object"}`,
		`{"type":"object","properties":{"s":{"type":"string","properties":{"x":{}},"required":["x"]}}}`:                               `{"properties":{"s":{"type":"string"}},"type":"object"}`,
		`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`: `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"type":"object"}`,
		`{"type":"object","properties":{},"required":["gone"]}`:                                                                       `{"properties":{},"required":[],"type":"object"}`,
		`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"a":{"type":"string"}}}}}`:                                   `{"$defs":{"T":{"properties":{"a":{"type":"string"}},"type":"object"}},"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{}`:   `{"properties":{},"type":"object"}`,
		`true`: `{"properties":{},"type":"object"}`,
	} {
		got, changed := fitSchema(json.RawMessage(given), false)
		if changed != (want != "") || changed && string(got) != want {
			t.Errorf("%s\ngot  %s\nwant %s", given, got, want)
		}
	}
}

// A model takes no tools only where the words say so of all tools.
func TestARefusalOfAllTools(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"registry.ollama.ai/library/poet:latest does not support tools":                                         true,
		"No endpoints found that support tool use. Try disabling a tool.":                                       true,
		`"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`:                true,
		"poet-reasoner does not support Function Calling":                                                       true,
		"deepseek-reasoner does not support this tool_choice":                                                   false,
		"tools.3.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level":    false,
		"Invalid schema for function 'x': tools do not support the keyword 'oneOf'":                             false,
		"Bedrock doesn't support tool calling without `tools=` param specified":                                 false,
		"[{\"code\":\"invalid_literal\",\"path\":[\"tools\",1,\"function\",\"parameters\"],\"message\":\"x\"}]": false,
	} {
		if got := NoTools(&session.ProviderError{Kind: session.RequestError, Status: 400, Message: said}); got != want {
			t.Errorf("%s: %v, want %v", said, got, want)
		}
	}
}
