package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const personSchema = `{
  "type": "object", "required": ["name", "age"], "additionalProperties": false,
  "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}}
}`

// schema writes a file for --output-schema.
func (u *user) schema(text string) string {
	u.t.Helper()
	path := filepath.Join(u.home, "schema.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
	return path
}

func TestOutputSchema(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		code   int
		out    string // in text mode
		says   []string
	}{
		"at once": {"-- 1 --\nexpect prompt: (?s)who.*\"minimum\":0.*nothing else\ntext: {\"name\": \"Ann\", \"age\": 30}\n", 0, `{"name": "Ann", "age": 30}`, nil},
		"fenced":  {"-- 1 --\ntext: ```json\n  {\"name\": \"Ann\", \"age\": 30}\n  ```\n", 0, `{"name": "Ann", "age": 30}`, nil},
		"third try": {"-- 1 --\ntext: It is Ann.\n-- 2 --\nexpect prompt: does not meet the schema: it is not JSON\ntext: {\"name\": \"Ann\", \"age\": -1, \"x\": 1}\n" +
			"-- 3 --\nexpect prompt: (?s)- /?age.*- /?x\ntext: {\"name\": \"Ann\", \"age\": 1}\n", 0, `{"name": "Ann", "age": 1}`, nil},
		"never": {"-- 1 --\ntext: no\n-- 2 --\ntext: {} {}\n-- 3 --\ntext: {\"name\": \"Ann\"}\n", 9, `{"name": "Ann"}`, []string{"did not meet --output-schema in 3 tries", "age", "hint: "}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			model := u.script(c.script)
			schema := u.schema(personSchema)
			r := u.run("-p", model, "--output-schema", schema, "who is it?").wants(c.code, c.says...)
			if strings.TrimSpace(r.out) != c.out {
				t.Errorf("stdout %q, want %q", r.out, c.out)
			}
			got := u.run("-p", "--output-format", "json", model, "--output-schema", schema, "who is it?").wants(c.code).result()
			value, _ := json.Marshal(got["structured"])
			if valid := strings.Contains(string(value), `"name":"Ann"`); valid != (c.code == 0) {
				t.Errorf("structured = %s with exit code %d", value, c.code)
			}
		})
	}
}

func TestOutputSchemaMistakes(t *testing.T) {
	for name, c := range map[string]struct{ schema, says string }{
		"no JSON":   {"{", "must be"},
		"no schema": {`{"type": 5}`, "JSON Schema"},
		"remote":    {`{"$ref": "https://example.org/x.json"}`, "example.org"},
		// ajv 8.20.0 (2020-12) and hyperjump 1.18.0 call the schema invalid; draft 7 takes it.
		"list of items": {`{"items": [{"type": "string"}]}`, "schema/items: a schema is an object"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.run("-p", u.script("-- 1 --\ntext: {}\n"), "--output-schema", u.schema(c.schema), "hi").wants(2, "--output-schema", c.says)
		})
	}
	u := newUser(t)
	u.run("-p", "--output-schema", "/no/such/file", "hi").wants(2, "/no/such/file")
}
