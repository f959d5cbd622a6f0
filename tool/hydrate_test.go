package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"adze/tool"

	"github.com/google/go-cmp/cmp"
)

func TestHydrateLookup(t *testing.T) {
	set := setOf(t, say("read", func(c *sayConfig) { c.Aliases = []string{"cat"} }), say("write", func(c *sayConfig) { c.Compat.Similar = []string{"ApplyPatch"} }), say("todoread"))
	for name, want := range map[string]struct {
		tool    string
		origin  tool.Origin
		message string
	}{
		"read":                        {"read", tool.Native, ""},
		"cat":                         {"read", tool.Alias, ""},
		"write":                       {"write", tool.Native, ""},
		"raed":                        {"", "", `there is no tool "raed"; did you mean read?`},
		"Read":                        {"read", tool.Alias, ""},
		"TODO_Read":                   {"todoread", tool.Alias, ""},
		"CAT":                         {"read", tool.Alias, ""},
		"functions.read":              {"read", tool.Alias, ""},
		"functions.Cat:12":            {"read", tool.Alias, ""},
		"default_api:read":            {"read", tool.Alias, ""},
		"functions.":                  {"", "", `there is no tool "functions."`},
		"mcp.read":                    {"", "", `did you mean read`},
		"apply_patch":                 {"", "", `there is no tool "apply_patch"; write does such work, with arguments of its own`},
		"read_file":                   {"", "", `did you mean read`},
		"zzz":                         {"", "", "use one of: read, write, todoread"},
		"":                            {"", "", `there is no tool ""; use one of`},
		"a\nb\x1b[31m":                {"", "", `there is no tool "a\nb\x1b[31m"`},
		strings.Repeat("z", 10<<20):   {"", "", "use one of"},
		strings.Repeat("read", 1<<20): {"", "", "did you mean"},
	} {
		h := allowing().Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: name, Arguments: `{"text":"x"}`}})[0]
		if want.tool != "" {
			if !h.OK || h.Tool != want.tool || h.Provenance.Origin != want.origin {
				t.Errorf("%s: %+v", name, h)
			}
			continue
		}
		if h.OK || len(h.Errors) != 1 || h.Errors[0].Stage != tool.StageLookup || h.Errors[0].Code != tool.CodeUnknownTool {
			t.Errorf("%.20q: %+v", name, h.Errors)
			continue
		}
		if m := h.Errors[0].Message; !strings.Contains(m, want.message) || len(m) > 600 {
			t.Errorf("%.20q: message %.700s", name, m)
		}
	}
	h := allowing().Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "cat", Arguments: `{"text":"x"}`}})[0]
	if h.Provenance.Alias != "cat" || h.Provenance.Repair != nil {
		t.Errorf("provenance %+v", h.Provenance)
	}
}

func TestHydrateWithoutASet(t *testing.T) {
	r := allowing()
	h := r.Hydrate(t.Context(), nil, []tool.RawCall{{ID: "c", Name: "read"}})[0]
	if h.OK {
		t.Fatal("hydrated without a set")
	}
	wantStatus(t, r.Exec(t.Context(), h), tool.Invalid, tool.CodePanic)
}

// optional takes no argument that it must have.
func optional() tool.Tool {
	return say("opt", func(c *sayConfig) {
		c.Parameters = rawJSON(`{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer"}},"additionalProperties":false}`)
		c.Compat.Args = map[string]string{"message": "text", "msg": "text", "count": "times"}
	})
}

func TestHydrateArguments(t *testing.T) {
	cases := map[string]struct {
		arguments string
		parsed    string // "" where it is refused
		repair    string
	}{
		"object":                     {`{"text":"x"}`, `{"text":"x"}`, ""},
		"spaces around":              {" \n{\"text\":\"x\"}\t", `{"text":"x"}`, ""},
		"nothing":                    {``, `{}`, ""},
		"spaces":                     {"  \n", `{}`, ""},
		"null":                       {`null`, `{}`, ""},
		"empty object":               {`{}`, `{}`, ""},
		"double encoded":             {`"{\"text\":\"x\"}"`, `{"text":"x"}`, "double_encoded"},
		"double encoded nothing":     {`"{}"`, `{}`, "double_encoded"},
		"encoded twice too often":    {`"\"{}\""`, "", ""},
		"argument alias":             {`{"message":"x"}`, `{"text":"x"}`, "alias"},
		"two argument aliases":       {`{"msg":"x","count":2}`, `{"text":"x","times":2}`, "alias"},
		"double encoded and alias":   {`"{\"msg\":\"x\"}"`, `{"text":"x"}`, "double_encoded+alias"},
		"alias beside the real name": {`{"message":"x","text":"y"}`, "", ""},
		"two aliases of one name":    {`{"message":"x","msg":"y"}`, "", ""},
		"alias of a wrong value":     {`{"message":[1]}`, "", ""},
		"alias of a number":          {`{"message":1.50}`, `{"text":"1.50"}`, "alias+number_to_string"},
		"array":                      {`[]`, "", ""},
		"string":                     {`"text"`, "", ""},
		"number":                     {`7`, "", ""},
		"true":                       {`true`, "", ""},
		"cut":                        {`{"text":"x`, "", ""},
		"two objects":                {`{"text":"x"}{"text":"y"}`, "", ""},
		"trailing words":             {`{"text":"x"} and done`, "", ""},
		"single quotes":              {`{'text':'x'}`, `{"text":"x"}`, "single_quotes"},
		"a name twice":               {`{"text":"x","text":"y"}`, "", ""},
		"a name twice by an escape":  {`{"text":"x","\u0074ext":"y"}`, "", ""},
		"another case":               {`{"Text":"x"}`, `{"text":"x"}`, "name_variant"},
		"not UTF-8":                  {"{\"text\":\"\xff\"}", "", ""},
		"a number beyond floats":     {`{"times":1e400}`, "", ""},
		"NUL in the text":            {"{\"text\":\"\x00\"}", "", ""},
		"NUL escaped":                {`{"text":"\u0000"}`, `{"text":"\u0000"}`, ""},
		"colons and quotes in text":  {`{"text":"a:\"b\":\\\\\":"}`, `{"text":"a:\"b\":\\\\\":"}`, ""},
		"a byte order mark":          {"\ufeff{}", `{}`, "byte_order_mark"},
	}
	set := setOf(t, optional())
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := hydrateOne(t, allowing(), set, c.arguments)
			if h.Provenance.Original != c.arguments {
				t.Errorf("original %q", h.Provenance.Original)
			}
			if c.parsed == "" {
				if h.OK || len(h.Errors) == 0 || h.Provenance.Validated != nil || h.Provenance.Repair != nil {
					t.Fatalf("%+v", h)
				}
				return
			}
			if !h.OK || string(h.Provenance.Validated) != c.parsed || string(h.Provenance.Parsed) != c.parsed {
				t.Fatalf("parsed %s, validated %s, errors %v", h.Provenance.Parsed, h.Provenance.Validated, h.Errors)
			}
			origin, kind := tool.Native, ""
			if m := mended(h); m != nil {
				origin, kind = tool.Repaired, m.Kind
				if h.Provenance.Repair == nil {
					origin = tool.Alias
				}
				if m.Before != c.arguments || string(m.After) != c.parsed {
					t.Errorf("repair %+v", m)
				}
			}
			if kind != c.repair || h.Provenance.Origin != origin {
				t.Errorf("repair %q of origin %s, want %q", kind, h.Provenance.Origin, c.repair)
			}
		})
	}
}

func TestHydrateFaults(t *testing.T) {
	cases := map[string]struct {
		arguments string
		want      tool.Fault
	}{
		"no JSON": {`{"text":"SECRET`, tool.Fault{Stage: tool.StageParse, Code: tool.CodeInvalidJSON,
			Message: "the arguments are not valid JSON (byte 15 of 15); they end too early"}},
		"JSON with a slip": {`{"text":SECRET}`, tool.Fault{Stage: tool.StageParse, Code: tool.CodeInvalidJSON,
			Message: "the arguments are not valid JSON (byte 9 of 15)"}},
		"another kind": {`["SECRET"]`, tool.Fault{Stage: tool.StageParse, Code: tool.CodeInvalidArguments,
			Message: "arguments must be one JSON object, not array"}},
		"schema": {`{"times":"SECRET"}`, tool.Fault{Stage: tool.StageValidate, Code: tool.CodeInvalidArguments, Path: "/times",
			Message: "must be integer, is string"}},
		"a number out of range": {`{"times":1e999}`, tool.Fault{Stage: tool.StageParse, Code: tool.CodeInvalidArguments,
			Message: "a number in the arguments is out of range"}},
		"an integer no int holds": {`{"times":99999999999999999999}`, tool.Fault{Stage: tool.StageInstantiate, Code: tool.CodeInvalidArguments,
			Path: "/times", Message: "this number does not fit here"}},
		"nested too deep": {`{"text":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, tool.Fault{Stage: tool.StageParse,
			Code: tool.CodeInvalidArguments, Message: "the arguments nest 601 levels deep; at most 500 are taken"}},
	}
	set := setOf(t, optional())
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := allowing()
			h := hydrateOne(t, r, set, c.arguments)
			if h.OK || len(h.Errors) != 1 {
				t.Fatalf("%+v", h)
			}
			got := h.Errors[0]
			got.Detail = ""
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			o := r.Exec(t.Context(), h)
			wantStatus(t, o, tool.Invalid, c.want.Code)
			if strings.Contains(o.Output, "SECRET") || strings.Contains(o.Output, "9999") || strings.Contains(fmt.Sprint(o.Record), "SECRET") {
				t.Errorf("the arguments are repeated: %s, record %+v", o.Output, o.Record)
			}
			if !strings.Contains(o.Output, "Call it again ") || !strings.Contains(o.Output, c.want.Message) {
				t.Errorf("advice %q", o.Output)
			}
		})
	}
}

// loose takes properties that its schema does not list.
func loose(ran *[]sayArgs) tool.Tool {
	return say("loose", func(c *sayConfig) {
		c.Parameters = rawJSON(`{"type":"object","properties":{"text":{"type":"string","pattern":"^safe"},"o":{"type":"object"}}}`)
		c.Run = recording(ran)
	})
}

func TestHydrateNeverRunsWhatWasNotValidated(t *testing.T) {
	// The decoder of encoding/json would fill Text from each of these, past the pattern of its
	// schema.
	for _, arguments := range []string{
		`{"TEXT":"evil"}`, `{"text":"safe","Text":"evil"}`, `{"Text":"evil","text":"safe"}`, `{"teXt":"evil","x":1}`,
		"{\"te\u017ft\":\"evil\",\"text\":\"safe\",\"TEXT\":\"x\"}",
	} {
		var ran []sayArgs
		o := execOne(t, allowing(), loose(&ran), arguments)
		wantStatus(t, o, tool.Invalid, tool.CodeInvalidArguments)
		if len(ran) > 0 {
			t.Errorf("%s ran with %+v", arguments, ran)
		}
		if !strings.Contains(o.Output, `did you mean "text"?`) {
			t.Errorf("%s: advice %q", arguments, o.Output)
		}
	}
	var ran []sayArgs
	// The long s folds to s, but has no lower case of its own.
	wantStatus(t, execOne(t, allowing(), loose(&ran), `{"text":"safe","time\u017f":99}`), tool.Invalid, tool.CodeInvalidArguments)
	wantStatus(t, execOne(t, allowing(), loose(&ran), `{"text":"safe","unlisted":{"Text":1}}`), tool.Completed, "")
}

type nestedArgs struct {
	Edits []struct {
		Old string `json:"old"`
		New string `json:"new,omitempty"`
	} `json:"edits"`
	Free map[string]sayArgs `json:"free,omitempty"`
	Raw  json.RawMessage    `json:"raw,omitempty"`
}

func TestHydrateComparesNamesAllTheWayDown(t *testing.T) {
	one := tool.Define("nested", tool.Config[nestedArgs, sayMeta]{
		Redact: tool.Expose(), Parameters: rawJSON(`{"type":"object"}`),
		Run: nopNested,
	})
	set := setOf(t, one)
	for arguments, path := range map[string]string{
		`{"edits":[{"old":"a","New":"b"}]}`:       "/edits/New",
		`{"free":{"Text":{"TEXT":"evil"}}}`:       "/free/Text/TEXT",
		`{"Raw":{}}`:                              "/Raw",
		`{"edits":[{"old":"a"}],"raw":{"RAW":1}}`: "",
		`{"free":{"Free":{"text":"ok"}}}`:         "",
	} {
		h := hydrateOne(t, allowing(), set, arguments)
		switch {
		case path == "" && !h.OK:
			t.Errorf("%s: %v", arguments, h.Errors)
		case path != "" && (h.OK || h.Errors[0].Path != path):
			t.Errorf("%s: ok %t, %v; want a fault at %s", arguments, h.OK, h.Errors, path)
		}
	}
}

func TestHydrateNumbers(t *testing.T) {
	type numbers struct {
		N int64   `json:"n,omitempty"`
		M int64   `json:"m,omitempty"`
		S int8    `json:"s,omitempty"`
		F float64 `json:"f,omitempty"`
	}
	var got numbers
	set := setOf(t, numeric(&got))
	for arguments, want := range map[string]*numbers{
		`{"n":10.0}`:                           {N: 10},
		`{"n":1e1}`:                            {N: 10},
		`{"n":-1.5E1,"f":1}`:                   {N: -15, F: 1},
		`{"n":1.55e1}`:                         nil,
		`{"n":1.50e2}`:                         {N: 150},
		`{"n":-0.0}`:                           {},
		`{"n":9007199254740993}`:               {N: 9007199254740993},
		`{"n":1.0,"m":9007199254740993}`:       {N: 1, M: 9007199254740993}, // a rewrite must not round its neighbour
		`{"n":9223372036854775807}`:            {N: 9223372036854775807},
		`{"n":9223372036854775808}`:            nil,
		`{"n":1e30}`:                           nil,
		`{"s":300}`:                            nil,
		`{"s":1.27e2}`:                         {S: 127},
		`{"f":1e300}`:                          {F: 1e300},
		`{"n":"10"}`:                           {N: 10},
		`{"n":"9007199254740993"}`:             {N: 9007199254740993}, // a repair keeps every digit
		`{"n":"10 "}`:                          nil,
		`{"n":10.000000000000000000000000001}`: {N: 10}, // as a float it is 10, for the schema too
	} {
		got = numbers{}
		r := allowing()
		o := r.Exec(t.Context(), hydrateOne(t, r, set, arguments))
		switch {
		case want == nil && o.Status != tool.Invalid:
			t.Errorf("%s: %s %+v", arguments, o.Status, got)
		case want != nil && (o.Status != tool.Completed || got != *want):
			t.Errorf("%s: %s %+v, want %+v; %s", arguments, o.Status, got, *want, o.Output)
		}
	}
}

func TestHydrateDuplicateIDs(t *testing.T) {
	set := setOf(t, say("x"))
	r := allowing()
	call := tool.RawCall{ID: "same", Name: "x", Arguments: `{"text":"a"}`}
	hs := r.Hydrate(t.Context(), set, []tool.RawCall{call, {ID: "other", Name: "x", Arguments: `{"text":"b"}`}, call})
	if len(hs) != 3 || !hs[0].OK || !hs[1].OK || hs[2].OK {
		t.Fatalf("%+v", hs)
	}
	o := r.Exec(t.Context(), hs[2])
	wantStatus(t, o, tool.Invalid, tool.CodeDuplicateCall)
	if !strings.Contains(o.Output, `"same" was used twice`) {
		t.Errorf("advice %q", o.Output)
	}
	if len(r.Hydrate(t.Context(), set, nil)) != 0 {
		t.Error("no calls gave hydrations")
	}
}

func TestHydrateTextCallsKeepTheirOrigin(t *testing.T) {
	set := setOf(t, optional())
	for _, arguments := range []string{`{"text":"x"}`, `{"msg":"x"}`} {
		h := allowing().Hydrate(t.Context(), set, []tool.RawCall{{ID: "c", Name: "opt", Arguments: arguments, Origin: tool.FromText}})[0]
		if !h.OK || h.Provenance.Origin != tool.FromText {
			t.Errorf("%s: %+v", arguments, h.Provenance)
		}
	}
}

// One fault does not make the rest of the message one: the names that are understood are not told
// as faults.
func TestHydrateTellsOnlyWhatIsLeftToMend(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"msg":"x","times":"y"}`:               "opt was not run: /times must be integer, is string. Call it again",
		`{"msg":"x","colour":"red"}`:            "opt was not run: /colour is not a known property; known: text, times. Call",
		`{"MSG":"x","time":3,"txet":"y"}`:       `/time is not a known property (did you mean "times"?); known: text, times`,
		`{"message":"x","msg":"y"}`:             "/message is not a known property",
		"```json\n{\"msg\":\"x\",\"a\":1}\n```": "opt was not run: /a is not a known property; known: text, times. Call",
	} {
		r := allowing()
		h := hydrateOne(t, r, setOf(t, optional()), arguments)
		p := h.Provenance
		if h.OK || p.Repair != nil || p.Dialect != nil || p.Origin != tool.Native || p.Validated != nil {
			t.Errorf("%s: %+v", arguments, h)
		}
		if o := r.Exec(t.Context(), h); !strings.Contains(o.Output, want) {
			t.Errorf("%s: %s\nwant %s", arguments, o.Output, want)
		}
	}
}

func TestHydrateMegabytes(t *testing.T) {
	var ran []sayArgs
	text := strings.Repeat("0123456789", 300<<10)
	o := execOne(t, allowing(), say("x", running(recording(&ran))), `{"text":"`+text+`"}`)
	if o.Status != tool.Completed || len(ran) != 1 || ran[0].Text != text {
		t.Errorf("%s, %d runs", o.Status, len(ran))
	}
	o = execOne(t, allowing(), say("x"), `{"`+text+`":1,"text":"`+text+`","times":"x"}`)
	wantStatus(t, o, tool.Invalid, tool.CodeInvalidArguments)
	if len(o.Output) > 2000 {
		t.Errorf("the advice has %d bytes", len(o.Output))
	}
}

func TestHydrateNamesTheValidator(t *testing.T) {
	h := hydrateOne(t, allowing(), setOf(t, say("x")), `{"text":"a"}`)
	if v := h.Provenance.Validator; v == nil || v.Name != "jsonschema-go" || v.Version == "" {
		t.Errorf("validator %+v", v)
	}
}

// Arguments of any size and shape are answered without being read where they are too many.
func TestHydrateBoundsTheArguments(t *testing.T) {
	set := setOf(t, say("read"))
	const size = 24 << 20
	for name, arguments := range map[string]string{
		"a string": `{"text":"` + strings.Repeat("x", size) + `"}`, "numbers": `{"text":[` + strings.Repeat("1,", size/2) + "1]}",
		"names": "{" + strings.Repeat(`"k":1,`, size/6) + `"l":1}`, "no JSON": strings.Repeat("x", size), "open": strings.Repeat("[", size),
	} {
		h := hydrateOne(t, &tool.Runner{}, set, arguments)
		if h.OK || len(h.Errors) != 1 || h.Errors[0].Code != tool.CodeTooLarge || !strings.Contains(h.Errors[0].Message, "several calls") {
			t.Errorf("%s: %+v", name, h.Errors)
		}
		if string(h.Exposed()) != "{}" {
			t.Errorf("%s: %d bytes are shown", name, len(h.Exposed()))
		}
	}
}

// Arguments that are refused for their length are not read for the example of corrected ones
// either.
func TestArgumentsThatAreTooLongAreReadByNobody(t *testing.T) {
	long := `{"text":"` + strings.Repeat("words ", 9<<20/6) + `"}`
	one := say("say")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o := execOne(t, allowing(), one, long)
	runtime.ReadMemStats(&after)
	wantStatus(t, o, tool.Invalid, tool.CodeTooLarge)
	if took := after.TotalAlloc - before.TotalAlloc; took > uint64(len(long)) {
		t.Errorf("%d bytes were allocated for a call of %d that is refused", took, len(long))
	}
}

func TestGateKnowsWhatWasMended(t *testing.T) {
	for arguments, mended := range map[string]bool{`{"path":"a"}`: false, `{'path':'a'}`: true} {
		var asked tool.Question
		r := &tool.Runner{Gate: tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
			asked = q
			return tool.Decision{Allow: true}, nil
		})}
		o := r.Exec(t.Context(), hydrateNamed(t, corpusSet(t), "read", arguments))
		if o.Status != tool.Completed || asked.Repaired != mended || (asked.Origin == tool.Repaired) != mended || !asked.Validated {
			t.Errorf("%s: %s, asked %+v", arguments, o.Status, asked)
		}
		if (o.Record.Repair != "") != mended {
			t.Errorf("%s: record %+v", arguments, o.Record)
		}
	}
}
