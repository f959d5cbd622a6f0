package run_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// modelOf serves steps and returns what the model was sent.
func modelOf(u *user, steps ...string) func() []string {
	var mu sync.Mutex
	var asked []string
	u.serve(func(w http.ResponseWriter, r *http.Request) {
		body := readAll(r)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, body)
		fmt.Fprint(w, steps[min(len(asked), len(steps))-1])
	})
	return func() []string { mu.Lock(); defer mu.Unlock(); return append([]string{}, asked...) }
}

func call(name string, args map[string]any) string {
	raw, _ := json.Marshal(args)
	return name + " " + string(raw)
}

const hiddenKey = "aB3dE6gH9jK2mN5p"

// What the model was shown as a mark cannot take the secret's place, by any tool; the text beside
// it can be edited, and a file that says the mark itself is a file like any other.
func TestASecretIsNotEditedBack(t *testing.T) {
	const conf = "host = db\r\npassword = \"" + hiddenKey + "\"\r\nport = 5432\r\n"
	const doc = "A mark is [masked].\n"
	for name, c := range map[string]struct {
		calls      []string
		conf, doc  string
		says       string
		showSecret bool
	}{
		"write":                   {calls: []string{call("write", map[string]any{"path": "conf.toml", "content": "host = db2\npassword = \"[masked]\"\n"})}, says: "content holds [masked]"},
		"a new file":              {calls: []string{call("write", map[string]any{"path": "other.toml", "content": "password = \"[masked]\"\n"})}, says: "content holds [masked]"},
		"old_string":              {calls: []string{call("edit", map[string]any{"path": "conf.toml", "old_string": "password = \"[masked]\"\nport = 5432", "new_string": "port = 1"})}, says: "old_string holds [masked]"},
		"both":                    {calls: []string{call("edit", map[string]any{"path": "conf.toml", "old_string": "password = \"[masked]\"", "new_string": "password = \"[masked]\" # x"})}, says: "old_string holds [masked]"},
		"new_string":              {calls: []string{call("edit", map[string]any{"path": "conf.toml", "old_string": "port = 5432", "new_string": "port = 5432\nagain = \"[masked]\""})}, says: "new_string holds [masked]"},
		"one of several":          {calls: []string{call("edit", map[string]any{"path": "conf.toml", "edits": []any{map[string]any{"old_string": "db", "new_string": "db2"}, map[string]any{"old_string": "[masked]", "new_string": "x"}}})}, says: "old_string holds [masked]"},
		"a patch":                 {calls: []string{call("apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: conf.toml\n@@\n host = db\n-password = \"[masked]\"\n+password = \"x\"\n*** End Patch"})}, says: "[masked]"},
		"a command":               {calls: []string{call("bash", map[string]any{"command": "printf 'password = \"[masked]\"' > conf.toml"})}, says: "the command holds [masked]"},
		"beside it":               {calls: []string{call("edit", map[string]any{"path": "conf.toml", "old_string": "port = 5432", "new_string": "port = 1"})}, conf: strings.Replace(conf, "5432", "1", 1)},
		"a literal mark":          {calls: []string{call("edit", map[string]any{"path": "doc.md", "old_string": "is [masked].", "new_string": "is written [masked]."})}, doc: "A mark is written [masked].\n"},
		"a file of literal marks": {calls: []string{call("write", map[string]any{"path": "doc.md", "content": "The mark: [masked]\n"})}, doc: "The mark: [masked]\n"},
		"shown":                   {calls: []string{call("edit", map[string]any{"path": "conf.toml", "old_string": hiddenKey, "new_string": "new-value"})}, conf: strings.Replace(conf, hiddenKey, "new-value", 1), showSecret: true},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.file("conf.toml", conf)
			u.file("doc.md", doc)
			if c.showSecret {
				u.configure(`{"show_secrets": true}`)
			}
			asked := modelOf(u, chatStream("", 1, `read {"path":"conf.toml"}`, `read {"path":"doc.md"}`), chatStream("", 1, c.calls...), chatStream("done", 4))
			u.env = append(u.env, "OPENAI_API_KEY=x")
			u.run("-p", "--model", "openai/m", "--permission-mode", "yolo", "go").wants(0)
			all := asked()
			if shown := strings.Contains(resultsOf(all[1]), hiddenKey); shown != c.showSecret {
				t.Errorf("the model sees the secret: %v\n%s", shown, resultsOf(all[1]))
			}
			if got := resultsOf(all[2]); c.says != "" && !strings.Contains(got, c.says) {
				t.Errorf("the result does not say %q:\n%s", c.says, got)
			}
			for file, want := range map[string][2]string{"conf.toml": {c.conf, conf}, "doc.md": {c.doc, doc}} {
				raw, err := os.ReadFile(filepath.Join(u.dir, file))
				if want[0] == "" {
					want[0] = want[1]
				}
				if err != nil || string(raw) != want[0] {
					t.Errorf("%s is %q, %v; want %q", file, raw, err, want[0])
				}
			}
			if _, err := os.Stat(filepath.Join(u.dir, "other.toml")); err == nil {
				t.Error("a mark was written into a new file")
			}
		})
	}
}

// A secret of a file of variables is known wherever it comes up, also without its name, in pieces,
// across the cut of a long output, in the file that keeps the whole of it, and in a job.
func TestValuesOfFilesAreKnownInOutputs(t *testing.T) {
	const plain, read = "violet-umbrella-42", "walnut-harbour-77"
	u := newUser(t)
	u.file(".env", "PORT=3000\nMAIL_PASSWORD="+plain+"\n")
	u.file("deploy/prod.env", "export DB_PASSWORD='"+read+"'\n")
	long := "for i in $(seq 400); do printf '%s' violet-; printf 'umbrella-42 %s\\n' filler-filler-filler-filler; done"
	asked := modelOf(u,
		chatStream("", 1, call("bash", map[string]any{"command": "printf violet-; sleep 0.05; printf 'umbrella'; sleep 0.05; echo -42"}),
			call("bash", map[string]any{"command": long}),
			call("bash", map[string]any{"command": ". deploy/prod.env; echo $DB_PASSWORD | rev | rev; echo $DB_PASSWORD | base64"}),
			call("bash", map[string]any{"command": "echo begun; printf violet-; printf 'umbrella-42\\n'", "background": true})),
		chatStream("", 1, call("bash_output", map[string]any{"job": "job1", "wait": 5}), `grep {"pattern":"3000|violet","include":"*.sh"}`),
		chatStream("done", 4))
	u.env = append(u.env, "OPENAI_API_KEY=x")
	r := u.run("-p", "--model", "openai/m", "--permission-mode", "yolo", "--output-format", "stream-json", "go").wants(0)
	all := asked()
	results := resultsOf(all[len(all)-1])
	for _, value := range []string{plain, "umbrella-4", read, "d2FsbnV0LWhhcmJv"} {
		if strings.Contains(results, value) || strings.Contains(r.out, value) && value != "umbrella-4" {
			t.Errorf("the model got %s:\n%.3000s", value, results)
		}
	}
	if n := strings.Count(results, "[masked]"); n < 6 {
		t.Errorf("%d marks in\n%.3000s", n, results)
	}
	spilled, _ := filepath.Glob(filepath.Join(u.home, "state", "output", "*", "*.txt"))
	if len(spilled) == 0 {
		t.Fatal("nothing was spilled")
	}
	for _, name := range spilled {
		if raw, err := os.ReadFile(name); err != nil || strings.Contains(string(raw), "umbrella") || strings.Count(string(raw), "[masked] filler") != 400 {
			t.Errorf("%s: %v, %.300s", name, err, raw)
		}
	}
}

// What was stored before a value was known for a secret is masked where commands show it, in tables
// and in JSON.
func TestCommandsShowNoSecret(t *testing.T) {
	const value = "amber-lantern-91"
	u := newUser(t)
	u.run("-p", u.script("-- 1 --\ncall bash: {\"command\": \"echo "+value+"\"}\n-- 2 --\ntext: it is "+value+"\n"), "--permission-mode", "yolo", "look at "+value).wants(0)
	u.declare("amber", `{"name": "amber", "description": "Light `+value+`.", "parameters": {"type": "object", "properties": {"a": {"type": "string", "default": "`+value+`"}}}, "command": ["true"], "stdin": "json"}`)
	u.env = append(u.env, "LAMP_TOKEN="+value)
	for _, args := range [][]string{
		{"session", "list"}, {"session", "list", "--json"}, {"audit", "show"}, {"audit", "show", "--json"}, {"audit", "stats"}, {"pick", "light " + value}, {"pick", "--json", "light " + value},
		{"tools", "list"}, {"tools", "list", "--json"}, {"tools", "show", "amber"}, {"tools", "schema", "amber"}, {"tools", "test", "amber", "--args", `{"a": "` + value + `"}`},
		{"permission", "test", "echo " + value}, {"permission", "test", "--json", "echo " + value}, {"tools", "run", "bash", "--args", `{"command": "echo ` + value + `"}`, "--permission-mode", "yolo"},
		{"trust", "list"}, {"doctor", "--offline"},
	} {
		if r := u.run(args...); strings.Contains(r.out+r.err, value) {
			t.Errorf("adze %s shows it:\n%s%s", strings.Join(args, " "), r.out, r.err)
		}
	}
}

// What is piped in is masked for the model; what the user writes is theirs to say.
func TestAPipeIsMaskedAndAWordIsNot(t *testing.T) {
	typed, piped := "ghp_"+strings.Repeat("aB3dE5gH7j", 4)[:36], "ghp_"+strings.Repeat("zY8xW6vU4t", 4)[:36]
	for _, show := range []bool{false, true} {
		for _, words := range []string{"why? " + typed, ""} {
			u := newUser(t)
			if err := os.WriteFile(filepath.Join(u.home, "config.json"), fmt.Appendf(nil, `{"show_secrets": %v}`, show), 0o600); err != nil {
				t.Fatal(err)
			}
			asked := modelOf(u, chatStream("ok", 4))
			u.env = append(u.env, "OPENAI_API_KEY=x")
			args := []string{"-p", "--model", "openai/m", "--output-format", "stream-json"}
			if words != "" {
				args = append(args, words)
			}
			r := u.runWith(strings.NewReader("token: "+piped+"\nend of it\n"), args...).wants(0)
			body := asked()[0]
			if strings.Contains(body, typed) != (words != "") || strings.Contains(body, piped) != show || !strings.Contains(body, "end of it") {
				t.Errorf("words %q, shown %v: the model got %s", words, show, body)
			}
			if strings.Contains(r.out, "secrets masked") == show {
				t.Errorf("shown %v: %s", show, r.out)
			}
		}
	}
}
