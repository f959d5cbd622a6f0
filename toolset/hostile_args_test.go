package toolset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"adze/tool"
)

// harmless are arguments of each tool that are valid and change nothing; a new tool gets a line
// here.
func harmless() map[string]map[string]any {
	return map[string]map[string]any{
		"read":           {"path": "file.txt"},
		"write":          {"path": "file.txt", "content": "x"}, // refused: it was not read
		"edit":           {"path": "file.txt", "old_string": "not in there", "new_string": "x"},
		"glob":           {"pattern": "*.txt"},
		"grep":           {"pattern": "text"},
		"list":           {},
		"bash":           {"command": "true"},
		"bash_output":    {"job": "none"},
		"bash_kill":      {"job": "none"},
		"list_processes": {},
		"todowrite":      {"todos": []any{map[string]any{"content": "x", "status": "pending"}}},
		"todoread":       {},
		"webfetch":       {"url": "http://nowhere.example/"},
		"ask":            {"question": "which?", "choices": []any{"a", "b"}},
		"websearch":      {"query": "x"},
		"task":           {"description": "d", "prompt": "p"},
		"task_complete":  {"summary": "s"},
		"git_status":     {},
		"tool_search":    {"query": "x"},
	}
}

// property is what these tests need of an argument's schema.
type property struct {
	Type        string    `json:"type"`
	Description string    `json:"description"`
	Enum        []any     `json:"enum"`
	Minimum     *float64  `json:"minimum"`
	Maximum     *float64  `json:"maximum"`
	Items       *property `json:"items"`
	object
}

type object struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
	Additional *bool               `json:"additionalProperties"`
}

func schemaOf(t *testing.T, d tool.Definition) object {
	t.Helper()
	var s object
	if err := json.Unmarshal(d.Parameters, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// misfits are values of no use for a type, as JSON, and which a repair cannot read as one either.
func misfits(p property) []string {
	switch {
	case p.Type == "string" && p.Enum != nil:
		return []string{`"nonsense"`, `{}`, `[]`, `7`}
	case p.Type == "string":
		return []string{`{"a":1}`, `[]`, `[1,2]`}
	case p.Type == "integer":
		return []string{`"many"`, `{}`, `[]`, `1.5`, `1e400`, `-1e400`, `1e308`, `9223372036854775808`, `-9223372036854775809`,
			`99999999999999999999999`, `-1`, `-9223372036854775808`, `NaN`, `0x10`, `"NaN"`}
	case p.Type == "boolean":
		return []string{`"maybe"`, `7`, `{}`, `[]`, `-1`}
	case p.Type == "array":
		return []string{`{"a":1}`, `7`, `[7]`, `[{}]`, `[[]]`, `"x"`}
	}
	return nil
}

// with is the harmless call with one argument replaced by raw JSON.
func with(t *testing.T, base map[string]any, name, raw string) string {
	t.Helper()
	parts := []string{fmt.Sprintf("%q:%s", name, raw)}
	for _, other := range slices.Sorted(maps.Keys(base)) {
		if other != name {
			parts = append(parts, fmt.Sprintf("%q:%s", other, encoded(t, base[other])))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// Every argument of every tool, missing, unknown, of a wrong type, out of range, not text: refused
// before anything is done, with a sentence that a model can act on.
func TestArgumentsThatDoNotFitAreRefused(t *testing.T) {
	h := newHostile(t)
	for _, d := range h.set.Definitions() {
		t.Run(d.Name, func(t *testing.T) {
			h := &hostile{T: t, top: h.top, work: h.work, root: h.root, set: h.set, runner: h.runner}
			base, ok := harmless()[d.Name]
			if !ok {
				t.Fatalf("%s has no line in harmless", d.Name)
			}
			s := schemaOf(t, d)
			misfit := []string{tool.CodeInvalidArguments, tool.CodeInvalidJSON}
			h.refused(d.Name, with(t, base, "no_such_argument", `"x"`), misfit...)
			for _, raw := range []string{`[]`, `7`, `"x"`, `{"path"`, `{]`, "\xff", strings.Repeat("[", 100_000), `{"a":` + strings.Repeat(`{"a":`, 2000)} {
				h.refused(d.Name, raw, misfit...)
			}
			for _, name := range s.Required {
				left := maps.Clone(base)
				delete(left, name)
				h.refused(d.Name, encoded(t, left), tool.CodeInvalidArguments)
			}
			for name, p := range s.Properties {
				for _, raw := range append(misfits(p), "\"\xff\xfe\"") {
					if raw == "[]" && slices.Contains([]string{"include", "exclude", "ignore"}, name) {
						continue // other assistants take a list there, and an empty one says nothing
					}
					h.refused(d.Name, with(t, base, name, raw), misfit...)
				}
			}
			h.noProcess()
		})
	}
}

// oddTexts are strings that are text, but no sensible argument.
func oddTexts() map[string]string {
	return map[string]string{
		"huge":    strings.Repeat("x", 1<<20),
		"nul":     "a\x00b",
		"newline": "a\nb",
		"blank":   " \t ",
		"escape":  "\x1b[2J\u202e",
		"empty":   "",
	}
}

// Texts that are valid but odd never end in a hang, a change, a process or an answer without bound.
// Where tools.md names the code it is checked.
func TestOddTextsAreHarmless(t *testing.T) {
	h := newHostile(t)
	codes := map[string]string{
		"bash.command huge": tool.CodeTooLarge, "bash.command nul": tool.CodeInvalidArguments, "bash.command empty": tool.CodeInvalidArguments,
		"bash.command blank": tool.CodeInvalidArguments, "bash.workdir nul": tool.CodeInvalidArguments, "bash.workdir huge": tool.CodeInvalidArguments,
		"read.path huge": tool.CodeInvalidArguments, "write.path huge": tool.CodeInvalidArguments, "edit.path huge": tool.CodeInvalidArguments,
		"read.path nul": tool.CodeInvalidArguments, "write.path nul": tool.CodeInvalidArguments, "edit.path nul": tool.CodeInvalidArguments,
		"read.path blank": tool.CodeInvalidArguments, "write.path blank": tool.CodeInvalidArguments, "edit.path blank": tool.CodeInvalidArguments,
		"write.path empty": tool.CodeIsDirectory, "edit.path empty": tool.CodeIsDirectory,
		"glob.path huge": tool.CodeInvalidArguments, "grep.path huge": tool.CodeInvalidArguments, "list.path huge": tool.CodeInvalidArguments,
		"glob.path nul": tool.CodeInvalidArguments, "grep.path nul": tool.CodeInvalidArguments, "list.path nul": tool.CodeInvalidArguments,
		"webfetch.url huge": tool.CodeInvalidArguments, "webfetch.url nul": tool.CodeInvalidArguments, "webfetch.url newline": tool.CodeInvalidArguments,
		"webfetch.url empty": tool.CodeInvalidArguments, "bash_output.job huge": tool.CodeNotFound, "bash_kill.job nul": tool.CodeNotFound,
		"task_complete.summary blank": tool.CodeInvalidArguments, "grep.type newline": tool.CodeInvalidArguments,
	}
	for _, d := range h.set.Definitions() {
		t.Run(d.Name, func(t *testing.T) {
			h := &hostile{T: t, top: h.top, work: h.work, root: h.root, set: h.set, runner: h.runner}
			for name, p := range schemaOf(t, d).Properties {
				if p.Type != "string" || p.Enum != nil {
					continue
				}
				for kind, text := range oddTexts() {
					if d.Name == "write" && name == "path" && (kind == "newline" || kind == "escape") {
						continue // such a name is allowed, and a file is made
					}
					key := d.Name + "." + name + " " + kind
					arguments := with(t, harmless()[d.Name], name, encoded(t, text))
					if want, ok := codes[key]; ok {
						h.refused(d.Name, arguments, want)
						delete(codes, key)
						continue
					}
					h.odd(d.Name, arguments)
				}
			}
			h.noProcess()
		})
	}
	for key := range codes {
		t.Errorf("%s was not tried", key)
	}
}

// odd makes a call that may complete or not.
func (h *hostile) odd(name, arguments string) {
	h.Helper()
	before := h.snapshot()
	o := h.call(name, arguments)
	if o.Status != tool.Completed {
		h.owes(o, name, arguments)
	}
	if len(o.Output) > tool.DefaultBytes+1000 && name != "task_complete" {
		h.Errorf("%s %.120s: %d bytes of output", name, arguments, len(o.Output))
	}
	h.same(before, name, arguments)
}
