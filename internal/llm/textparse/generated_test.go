package textparse_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adze/internal/llm/textparse"
	"adze/internal/testkit/effort"
	"adze/session"
	"adze/tool"
)

// meant is a call that a generated message makes.
type meant struct {
	name string
	args map[string]any
}

// style is one way in which models write calls.
type style struct {
	name  string
	write func(r *rand.Rand, calls []meant) string
	// one allows a single call a message, json says that the arguments are JSON, bare that there
	// are no marks, and last that there is none at the end: such calls count only at the end of a
	// message.
	one, json, bare, last bool
	// tail is the end mark that a server may not print.
	tail string
}

// jsonOf writes a value as models do: sometimes with spaces, sometimes indented.
func jsonOf(r *rand.Rand, v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(r.IntN(4) == 0)
	if r.IntN(4) == 0 {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// object is a call as one object with the keys that a family has.
func object(r *rand.Rand, c meant, nameKey, argsKey string) string {
	return fmt.Sprintf("{%q: %q, %q: %s}", nameKey, c.name, argsKey, jsonOf(r, c.args))
}

// each writes calls one after the other.
func each(open, between, end string, one func(r *rand.Rand, c meant) string) func(*rand.Rand, []meant) string {
	return func(r *rand.Rand, calls []meant) string {
		var list []string
		for _, c := range calls {
			list = append(list, one(r, c))
		}
		return open + strings.Join(list, between) + end
	}
}

func plainObject(r *rand.Rand, c meant) string { return object(r, c, "name", "arguments") }

func llamaObject(r *rand.Rand, c meant) string { return object(r, c, "name", "parameters") }

// pythonOf writes a value as Python does.
func pythonOf(r *rand.Rand, v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, pythonOf(r, item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		var items []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			items = append(items, pythonOf(r, k)+": "+pythonOf(r, v[k]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case string:
		quote := []string{"'", `"`}[r.IntN(2)]
		return quote + strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, quote, `\`+quote).Replace(v) + quote
	}
	return jsonOf(rand.New(rand.NewPCG(1, 1)), v)
}

func python(r *rand.Rand, c meant) string {
	var items []string
	for _, k := range slices.Sorted(maps.Keys(c.args)) {
		items = append(items, k+"="+pythonOf(r, c.args[k]))
	}
	return c.name + "(" + strings.Join(items, ", ") + ")"
}

// tags writes arguments in tags: text as it is, everything else as JSON.
func tags(open, name, end string) func(r *rand.Rand, c meant) string {
	return func(r *rand.Rand, c meant) string {
		var b strings.Builder
		for _, k := range slices.Sorted(maps.Keys(c.args)) {
			text, ok := c.args[k].(string)
			if !ok {
				text = jsonOf(r, c.args[k])
			}
			fmt.Fprintf(&b, open, k)
			b.WriteString(name + text + end)
		}
		return b.String()
	}
}

// styles are the families, each as the template of its models or the parser of a server has it.
func styles() []style {
	fence := func(language string) func(*rand.Rand, []meant) string {
		return func(r *rand.Rand, calls []meant) string {
			one := []func(*rand.Rand, meant) string{plainObject, llamaObject,
				func(r *rand.Rand, c meant) string { return object(r, c, "tool", "parameters") },
				func(r *rand.Rand, c meant) string { return object(r, c, "tool", "args") },
				func(r *rand.Rand, c meant) string { return object(r, c, "tool_name", "tool_input") },
				func(r *rand.Rand, c meant) string { return object(r, c, "function", "arguments") },
				func(r *rand.Rand, c meant) string { return `{"function": ` + plainObject(r, c) + `}` },
				func(r *rand.Rand, c meant) string {
					return `{"type": "function", "function": ` + plainObject(r, c) + `}`
				},
			}[r.IntN(8)]
			if len(calls) > 1 {
				return each("```"+language+"\n[", ",\n", "]\n```", one)(r, calls)
			}
			return each("```"+language+"\n", "", "\n```", one)(r, calls)
		}
	}
	deepSeek := func(plain bool) func(*rand.Rand, []meant) string {
		return func(r *rand.Rand, calls []meant) string {
			text := each("<｜tool▁calls▁begin｜>", "\n", "<｜tool▁calls▁end｜>", func(r *rand.Rand, c meant) string {
				if r.IntN(2) == 0 {
					return "<｜tool▁call▁begin｜>" + c.name + "<｜tool▁sep｜>" + jsonOf(r, c.args) + "<｜tool▁call▁end｜>"
				}
				return "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" + c.name + "\n```json\n" + jsonOf(r, c.args) + "\n```<｜tool▁call▁end｜>"
			})(r, calls)
			if plain {
				for _, mark := range []string{"tool▁calls▁begin", "tool▁calls▁end", "tool▁call▁begin", "tool▁call▁end", "tool▁sep"} {
					text = strings.ReplaceAll(text, "<｜"+mark+"｜>", "<|"+strings.ReplaceAll(mark, "▁", "_")+"|>")
				}
			}
			return text
		}
	}
	coder := func(r *rand.Rand, c meant) string {
		return "<function=" + c.name + ">\n" + tags("<parameter=%s>", "\n", "\n</parameter>\n")(r, c) + "</function>"
	}
	invoke := func(r *rand.Rand, c meant) string {
		return "<invoke name=\"" + c.name + "\">\n" + tags("<parameter name=%q>", "", "</parameter>\n")(r, c) + "</invoke>"
	}
	harmony := func(r *rand.Rand, c meant) string {
		head := []string{
			"<|channel|>commentary to=functions." + c.name + " <|constrain|>json<|message|>",
			"<|start|>assistant<|channel|>commentary to=functions." + c.name + "<|message|>",
			"<|start|>assistant to=functions." + c.name + "<|channel|>commentary json<|message|>",
		}[r.IntN(3)]
		return head + jsonOf(r, c.args) + "<|call|>"
	}
	kimi := func(r *rand.Rand, c meant) string {
		return "<|tool_call_begin|>functions." + c.name + ":" + strconv.Itoa(r.IntN(9)) + "<|tool_call_argument_begin|>" + jsonOf(r, c.args) + "<|tool_call_end|>"
	}
	glm := func(r *rand.Rand, c meant) string {
		return "<tool_call>" + c.name + "\n" + tags("<arg_key>%s</arg_key>\n", "<arg_value>", "</arg_value>\n")(r, c) + "</tool_call>"
	}
	return []style{
		{name: "Hermes", write: each("<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>", plainObject), json: true, tail: "\n</tool_call>"},
		{name: "Qwen coder", write: each("<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>", coder), tail: "\n</tool_call>"},
		{name: "Qwen coder, bare", write: each("", "\n", "", coder)},
		{name: "Qwen coder, without its opening", write: each("", "\n", "\n</tool_call>", coder), tail: "\n</tool_call>"},
		{name: "GLM", write: each("", "\n", "", glm)},
		{name: "fence", write: fence("json"), json: true, bare: true},
		{name: "fence without language", write: fence(""), json: true, bare: true},
		{name: "fence of tool_call", write: fence("tool_call"), json: true, bare: true},
		{name: "Llama 3", write: each("", "; ", "", llamaObject), json: true, bare: true},
		{name: "Llama 3, typed", write: each("", "\n", "", func(r *rand.Rand, c meant) string {
			return `{"type": "function", ` + llamaObject(r, c)[1:]
		}), json: true, bare: true},
		{name: "Llama 3, tag", write: each("<|python_tag|>", "", "", llamaObject), json: true, one: true},
		{name: "Llama, pythonic", write: each("[", ", ", "]", python), bare: true},
		{name: "Llama 4", write: each("<|python_start|>[", ", ", "]<|python_end|>", python), tail: "<|python_end|>"},
		{name: "bare object", write: each("", "\n", "", plainObject), json: true, bare: true},
		{name: "bare list", write: each("[", ", ", "]", plainObject), json: true, bare: true},
		{name: "Mistral", write: each("[TOOL_CALLS] [", ", ", "]", plainObject), json: true},
		{name: "Mistral, by name", write: each("", "", "", func(r *rand.Rand, c meant) string { return "[TOOL_CALLS]" + c.name + "[ARGS]" + jsonOf(r, c.args) }), json: true},
		{name: "DeepSeek", write: deepSeek(false), json: true, tail: "<｜tool▁calls▁end｜>"},
		{name: "DeepSeek, plain letters", write: deepSeek(true), json: true, tail: "<|tool_calls_end|>"},
		{name: "Kimi", write: each("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>", kimi), json: true, tail: "<|tool_calls_section_end|>"},
		{name: "harmony", write: each("", "", "", harmony), json: true, tail: "<|call|>"},
		{name: "Claude", write: each("<function_calls>\n", "\n", "\n</function_calls>", invoke), tail: "\n</function_calls>"},
		{name: "Claude, inner", write: each("", "\n", "", invoke)},
	}
}

// texts are values that are hard to carry in one format or another.
func texts() []string {
	return []string{
		"a.txt", "", "It's \"quoted\" and 'so on'", "two\nlines\n", "Grüße, 世界 🦊", "package main\n\nfunc main() {\n\tprintln(\"{[(\")\n}\n",
		"# Title\n\n```go\nfmt.Println(1)\n```\n", "C:\\new\\table", "a <b> & </c> {d}", "printf '%s\\n' \"$HOME\" | tr a b", "[1, 2", "{\"name\": \"read\", \"arguments\": {\"path\": \"x\"}}",
		"trailing space ", " if x:\n\treturn 'y'", "null", "42", "a, b) and (c", "ends with \\", "</b>\n<tool>\n",
	}
}

// generate makes a call that is right by its schema.
func generate(r *rand.Rand) meant {
	text := func() string { return texts()[r.IntN(len(texts()))] }
	switch r.IntN(6) {
	case 0:
		return meant{"read", map[string]any{"path": text(), "limit": float64(r.IntN(1000))}}
	case 1:
		return meant{"write", map[string]any{"path": "dir/" + strconv.Itoa(r.IntN(100)) + ".go", "content": text()}}
	case 2:
		return meant{"bash", map[string]any{"command": text(), "timeout": float64(r.IntN(100)) / 4, "background": r.IntN(2) == 0}}
	case 3:
		return meant{"list", map[string]any{}}
	case 4:
		return meant{"todowrite", map[string]any{
			"todos": []any{map[string]any{"content": text(), "done": r.IntN(2) == 0}, text(), float64(r.IntN(10))},
			"about": map[string]any{"inner": map[string]any{"text": text(), "none": nil}},
		}}
	}
	return meant{"bash", map[string]any{"command": text()}}
}

// disturbance is what happens to a message on its way. Its result says how many of the calls, from
// the first, are still certain; maybe says that fewer are no fault: what is meant is open.
type disturbance struct {
	name string
	make func(r *rand.Rand, s style, text string, calls []meant) (disturbed string, certain int, maybe, ok bool)
}

func disturbances() []disturbance {
	around := func(before, after string, bare bool) func(*rand.Rand, style, string, []meant) (string, int, bool, bool) {
		return func(_ *rand.Rand, s style, text string, calls []meant) (string, int, bool, bool) {
			return before + text + after, len(calls), false, bare || !s.bare && !s.last
		}
	}
	never := func(before, after string) func(*rand.Rand, style, string, []meant) (string, int, bool, bool) {
		return func(_ *rand.Rand, _ style, text string, _ []meant) (string, int, bool, bool) {
			return before + text + after, 0, false, true
		}
	}
	return []disturbance{
		{"none", around("", "", true)},
		{"text before", around("I will do that now.\n\n", "", true)},
		{"text without a full stop before", around("Let me look at it\n", "", true)},
		{"another script before", around("我来看看。\n", "", true)},
		{"text before and after", around("I will look:\n", "\n\nThen I will go on.", false)},
		{"space after", around("", "\n\n  \n", true)},
		{"thinking before", around("<think>\nThe user wants {a} [b].\n</think>\n\n", "", true)},
		{"end token", around("", "<|im_end|>", true)},
		{"without the end mark", func(_ *rand.Rand, s style, text string, calls []meant) (string, int, bool, bool) {
			return strings.TrimSuffix(text, s.tail), len(calls), false, s.tail != ""
		}},
		{"cut", func(r *rand.Rand, s style, text string, calls []meant) (string, int, bool, bool) {
			if len(calls) > 1 {
				return "", 0, false, false
			}
			arguments := len(text) / 2
			return text[:1+r.IntN(arguments)], 0, true, true
		}},
		{"an unknown name", func(_ *rand.Rand, _ style, text string, calls []meant) (string, int, bool, bool) {
			for i, c := range calls {
				text = strings.Replace(text, c.name, "nosuch"+strconv.Itoa(i), 1)
			}
			return text, 0, false, len(calls) == 1 && strings.Count(text, calls[0].name) == 0
		}},
		{"HTML-escaped", func(_ *rand.Rand, _ style, text string, calls []meant) (string, int, bool, bool) {
			return html.EscapeString(text), len(calls), true, true
		}},
		{"in a sentence", never("You could call it like this: ", " and then wait for the result.")},
		{"in backticks", never("The model writes `", "` for that.")},
		{"in a long fence", never("An example of the format:\n\n`````\n", "\n`````\n\nNothing was run.")},
		{"an example with a text behind it", func(_ *rand.Rand, s style, text string, _ []meant) (string, int, bool, bool) {
			return "You could call it like this:\n\n" + text + "\n\nThe result comes in the next message.", 0, false, s.bare
		}},
		{"a program's file", func(r *rand.Rand, s style, _ string, calls []meant) (string, int, bool, bool) {
			files := []string{
				`{"name": %q, "version": "1.0.0", "arguments": ["-v"]}`, `{"name": %q, "scripts": {"test": "go test"}}`,
				`{"name": %q, "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}`,
				`{"type": "function", "function": {"name": %q, "parameters": {"type": "object", "properties": {}}}}`,
				`[{"name": %q, "description": "It does something.", "parameters": {}}]`, `{"tools": [{"name": %q, "arguments": {}}]}`,
			}
			return "The file:\n\n```json\n" + fmt.Sprintf(files[r.IntN(len(files))], calls[0].name) + "\n```", 0, false, s.name == "fence"
		}},
		{"in a quotation", func(_ *rand.Rand, _ style, text string, _ []meant) (string, int, bool, bool) {
			return "The page says:\n\n> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n\nThat is all.", 0, false, true
		}},
		{"trailing comma", func(_ *rand.Rand, s style, text string, calls []meant) (string, int, bool, bool) {
			at := strings.LastIndex(text, "}")
			return text[:max(at, 0)] + "," + text[max(at, 0):], len(calls), false, s.json && at > 0 && text[at-1] != '{'
		}},
		{"single quotes", func(_ *rand.Rand, s style, text string, calls []meant) (string, int, bool, bool) {
			return strings.ReplaceAll(text, `"`, "'"), len(calls), false, s.json && !strings.ContainsAny(text, `\'`)
		}},
		{"line breaks in a string", func(_ *rand.Rand, s style, text string, calls []meant) (string, int, bool, bool) {
			clean := !strings.Contains(text, `\\`) && strings.Contains(text, `\n`)
			return strings.ReplaceAll(text, `\n`, "\n"), len(calls), false, s.json && clean
		}},
		{"a second call that is broken", func(_ *rand.Rand, s style, text string, calls []meant) (string, int, bool, bool) {
			more := s.write(rand.New(rand.NewPCG(3, 3)), []meant{{"list", map[string]any{"path": "x"}}})
			return text + "\n" + more[:len(more)*2/3], len(calls), true, len(calls) == 1 && !s.one
		}},
	}
}

// writtenTwice writes the arguments as a string of JSON, as the interface of OpenAI has them.
func writtenTwice(s style) style {
	one := func(r *rand.Rand, c meant) string {
		return fmt.Sprintf(`{"name": %q, "arguments": %s}`, c.name, jsonOf(r, jsonOf(r, c.args)))
	}
	s.name, s.write = s.name+", arguments as text", each("<tool_call>\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>", one)
	return s
}

// outcome judges what became of a message: missed where a certain call is not there, and wrong
// where one is that is not meant as it is.
func outcome(t *testing.T, tools *tool.Set, pieces []string, calls []meant, certain int) string {
	t.Helper()
	var raw []tool.RawCall
	n := 0
	mint := func() string { n++; return fmt.Sprint("c", n) }
	for c := range textparse.Recover(stream(session.Done{Stop: session.StopEnd}, pieces...), session.Request{Tools: toolKinds()}, mint) {
		if c, ok := c.(session.Call); ok {
			raw = append(raw, c.RawCall)
		}
	}
	got, lost := 0, false
	for _, h := range (&tool.Runner{}).Hydrate(t.Context(), tools, raw) {
		if !h.OK {
			continue
		}
		var args map[string]any
		if err := json.Unmarshal(h.Provenance.Validated, &args); err != nil {
			t.Fatal(err)
		}
		// A call behind one that was broken may run.
		for got < certain && (h.Tool != calls[got].name || !reflect.DeepEqual(args, calls[got].args)) {
			got, lost = got+1, true
		}
		if got == certain {
			return fmt.Sprintf("wrong: %s %s", h.Tool, h.Provenance.Validated)
		}
		got++
	}
	if lost || got < certain {
		return "missed"
	}
	return "right"
}

// TestGeneratedCalls writes known calls in the form of each family, disturbs the messages, and
// counts what is recovered. Nothing may be accepted that was not meant, whatever the seed;
// ADZE_TESTS is how many messages there are for each form and disturbance, and
// ADZE_SEED makes them again.
func TestGeneratedCalls(t *testing.T) {
	each := effort.Rounds(1, 3, 150)
	seed := effort.Seed(t, rand.Uint64())
	r := rand.New(rand.NewPCG(seed, 1))
	tools := set(t)
	list := styles()
	list = append(list, writtenTwice(list[0]))
	right, missed, wrong, open := 0, 0, 0, 0
	shown := map[string]int{}
	for _, s := range list {
		for _, d := range disturbances() {
			for range each {
				calls := []meant{generate(r)}
				for !s.one && len(calls) < 3 && r.IntN(3) == 0 {
					calls = append(calls, generate(r))
				}
				written := s.write(r, calls)
				text, certain, maybe, ok := d.make(r, s, written, calls)
				if !ok {
					continue
				}
				pieces := []string{text}
				if r.IntN(2) == 0 {
					pieces = strings.SplitAfter(text, text[len(text)/2:][:1])
				}
				verdict := outcome(t, tools, pieces, calls, certain)
				switch key := s.name + ", " + d.name; {
				case verdict == "right":
					right++
					continue
				case verdict == "missed" && maybe:
					open++
					continue
				case verdict == "missed":
					missed++
					if shown[key]++; shown[key] == 1 {
						t.Errorf("%s: missed in\n%s", key, text)
					}
				default:
					wrong++
					if shown[key]++; shown[key] == 1 {
						t.Errorf("%s: %s in\n%s", key, verdict, text)
					}
				}
			}
		}
	}
	if right < 5*open {
		t.Errorf("only %d are right", right)
	}
	t.Logf("%d right, %d missed, %d missed where it is open, %d wrong", right, missed, open, wrong)
}
