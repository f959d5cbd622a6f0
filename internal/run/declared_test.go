package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const greeting = `{
	"name": "greet", // declared by the person
	"description": "Greet somebody.",
	"parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
	"command": ["printf", "hello <%s>\\n", "--", "{name}"],
}`

func TestDeclaredToolsRunUnderTheGateAndAProjectsAreIgnored(t *testing.T) {
	u := newUser(t)
	own := filepath.Join(u.home, "tools")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"greet.json": greeting, "broken.json": `{"name": "broken"}`} {
		if err := os.WriteFile(filepath.Join(own, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	u.file(".adze/tools/evil.json", strings.Replace(greeting, `"greet"`, `"evil"`, 1))
	model := u.script("-- 1 --\nexpect prompt: hi\ncall greet: {\"name\": \"$(touch pwned) 'x'\"}\n-- 2 --\nexpect greet completed: touch pwned\ntext: done\n")
	args := []string{"-p", "--output-format", "stream-json", model, "--allow", "execute(printf **)", "hi"}
	r := u.run(args...).wants(0)
	for _, want := range []string{
		`"project_items_ignored":1`, "ignored until you allow it: tool:evil (adze permission trust show NAME, adze permission trust allow NAME)", "broken.json: description is missing",
		`printf 'hello <%s>\\n' -- '$(touch pwned) '\"'\"'x'\"'`,
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the stream does not say %s:\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, `"evil"`) {
		t.Error("the project's tool is offered")
	}
	if _, err := os.Stat(filepath.Join(u.dir, "pwned")); err == nil {
		t.Error("an argument was run")
	}
	model = u.script("-- 1 --\nexpect prompt: hi\ncall greet: {\"name\": \"x\"}\n-- 2 --\nexpect greet denied: .\ntext: done\n")
	u.run("-p", model, "hi").wants(7)
}
