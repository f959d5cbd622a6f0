package cmd_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMisuseOfTheCommands(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		says []string
	}{
		"unknown tools command":       {"tools shwo", []string{`no command "shwo"`, "adze tools show?"}},
		"unknown audit command":       {"audit everything", []string{"the commands are: show, stats, verify"}},
		"unknown permission command":  {"permission tset", []string{"adze permission test?"}},
		"no tool named":               {"tools show", []string{"adze tools show NAME", "--help"}},
		"two tools named":             {"tools run read write", []string{"adze tools run NAME"}},
		"unknown tool":                {"tools show reed", []string{`no tool "reed"`, "did you mean read?"}},
		"name that models use":        {"tools schema run_command", []string{"models that say run_command get bash"}},
		"unknown format":              {"tools schema read --provider anthropc", []string{"did you mean anthropic?"}},
		"all schemas without format":  {"tools schema", []string{"name one tool"}},
		"unknown flag":                {"tools run read --permision-mode x", []string{"did you mean --permission-mode?"}},
		"arguments from no file":      {"tools run read --args @none.json", []string{"none.json", "check the path"}},
		"unknown mode":                {"tools run read --permission-mode wild", []string{"the modes are"}},
		"bad rule":                    {"permission test ls --allow fly", []string{"fly"}},
		"negative time":               {"tools run read --max-time -1s", []string{"cannot be negative"}},
		"no command to test":          {"permission test", []string{"adze permission test COMMAND"}},
		"no session here":             {"audit show", []string{"no session of", "adze sessions list --all"}},
		"unknown session":             {"audit verify 1999", []string{"no such session", "adze sessions list"}},
		"unknown session for numbers": {"audit stats --session 1999", []string{"no such session"}},
		"one and all":                 {"audit verify 2026 --all", []string{"every session"}},
		"half an anchor":              {"audit verify --anchor 12", []string{"SEQ:HASH"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newUser(t).run(strings.Fields(c.args)...).wants(2, c.says...)
			if !strings.Contains(r.err, "adze: error: ") || !strings.Contains(r.err, "hint: ") || r.out != "" {
				t.Errorf("want an error with a hint on stderr, and nothing on stdout\nstdout: %s\nstderr: %s", r.out, r.err)
			}
		})
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	u := newUser(t)
	for _, c := range []string{"tools list", "tools show", "tools schema", "tools test", "tools run", "audit show", "audit verify", "audit stats", "permission test", "permission list", "permission add", "permission remove", "permission why"} {
		u.run(append(strings.Fields(c), "--help")...).wants(0, "Examples:", "adze "+c)
	}
	u.run("tools").wants(0, "schema", "run one by hand")
}

// Each line of session list --json is an object with the id that --resume takes.
func TestSessionsAreListedForScripts(t *testing.T) {
	u := newUser(t)
	u.run("session", "list", "--json").wants(0)
	u.run("-p", u.script("-- 1 --\ntext: one\n"), "mend\tthe parser").wants(0, "one")
	lines := strings.Split(strings.TrimSpace(u.run("session", "list", "--json").wants(0).out), "\n")
	var got struct{ ID, Model, Title, Cwd, Updated string }
	decode(t, lines[0], &got)
	if len(lines) != 1 || !strings.HasPrefix(got.Model, "script/") || !strings.HasPrefix(got.Title, "mend") || got.Cwd == "" || got.Updated == "" {
		t.Errorf("%d lines, the first %+v", len(lines), got)
	}
	u.run("-p", "--resume", got.ID, u.script("-- 1 --\ntext: two\n"), "go on").wants(0, "two")
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func TestToolsAreListedAndShown(t *testing.T) {
	u := newUser(t)
	u.run("tools", "list").wants(0, "bash", "execute (read) (write) (network)", "Read a text file")
	var all []map[string]any
	decode(t, u.run("tools", "list", "--json").wants(0).out, &all)
	if len(all) < 14 || all[0]["name"] != "read" || all[0]["digest"] == "" {
		t.Errorf("%d tools, the first is %v", len(all), all[0]["name"])
	}
	u.run("tools", "show", "edit").wants(0, "permissions    write", "str_replace", `"old_string"`)
}

// Each format has its own shape, and holds the same view of the schema.
func TestSchemasAreTranslatedForEachProvider(t *testing.T) {
	u := newUser(t)
	var definitions []map[string]any
	decode(t, u.run("tools", "list", "--json").wants(0).out, &definitions)
	canonical := definitions[0]["provider_schema"]
	if canonical == nil || definitions[0]["name"] != "read" {
		t.Fatalf("read is shown no schema: %v", definitions[0])
	}
	for provider, path := range map[string][]string{
		"openai": {"function", "parameters"}, "ollama": {"function", "parameters"}, "responses": {"parameters"}, "anthropic": {"input_schema"},
	} {
		var list []map[string]any
		decode(t, u.run("tools", "schema", "read", "bash", "--provider", provider).wants(0).out, &list)
		if len(list) != 2 {
			t.Fatalf("%s: %d tools, want 2", provider, len(list))
		}
		var at any = list[0]
		for _, step := range path {
			at = at.(map[string]any)[step]
		}
		if fmt.Sprint(at) != fmt.Sprint(canonical) {
			t.Errorf("%s: schema %v, want %v", provider, at, canonical)
		}
	}
	// Gemini takes a part of JSON Schema only, and wraps the list.
	var wrapped []struct{ FunctionDeclarations []struct{ Name string } }
	r := u.run("tools", "schema", "read", "bash", "--provider", "gemini").wants(0)
	decode(t, r.out, &wrapped)
	if len(wrapped) != 1 || len(wrapped[0].FunctionDeclarations) != 2 || strings.Contains(r.out, "additionalProperties") {
		t.Errorf("gemini: %s", r.out)
	}
}

func TestACallIsCheckedWithoutRunning(t *testing.T) {
	u := newUser(t)
	for name, c := range map[string]struct {
		tool, args string
		code       int
		says       []string
	}{
		"valid":        {"write", `{"path":"a","content":"x"}`, 0, []string{`"ok": true`, `"origin": "native"`, `"validator"`}},
		"an alias":     {"write_file", `{"file_path":"a","content":"x"}`, 0, []string{`"tool": "write"`, `"alias": "write_file"`, `"kind": "alias"`, `"before"`, `"after"`}},
		"unknown tool": {"wriet", `{}`, 2, []string{`"stage": "lookup"`, `"code": "unknown_tool"`, "adze tools list"}},
		"not JSON":     {"write", `{"path":`, 2, []string{`"stage": "parse"`, `"code": "invalid_json"`}},
		"wrong type":   {"write", `{"path":["a"],"content":"x"}`, 2, []string{`"stage": "validate"`, `"path": "/path"`, "adze tools schema write"}},
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			r := u.run("tools", "test", c.tool, "--args", c.args).wants(c.code, c.says...)
			var h map[string]any
			decode(t, r.out, &h)
			if h["ok"] != (c.code == 0) {
				t.Errorf("ok = %v", h["ok"])
			}
		})
	}
	if _, err := os.Stat(filepath.Join(u.dir, "a")); err == nil {
		t.Error("a checked call ran")
	}
}

func TestACallByHandTakesThePipeline(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "hello\n")
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"completed":         {[]string{"read", "--args", `{"path":"a.txt"}`}, 0, []string{"1  hello"}},
		"an alias":          {[]string{"cat", "--args", `{"path":"a.txt"}`}, 0, []string{"1  hello"}},
		"denied":            {[]string{"write", "--args", `{"path":"b","content":"x"}`}, 7, []string{"needs approval", "--allow 'write(b)'"}},
		"allowed by a rule": {[]string{"write", "--args", `{"path":"b","content":"x"}`, "--allow", "write(b)"}, 0, []string{"created b"}},
		"denied by a rule":  {[]string{"bash", "--args", `{"command":"touch c"}`, "--permission-mode", "yolo", "--deny", "execute(touch **)"}, 7, []string{`"deny execute(touch **)"`}},
		"failed":            {[]string{"bash", "--args", `{"command":"exit 3"}`, "--permission-mode", "yolo"}, 8, []string{"exit code 3"}},
		"invalid":           {[]string{"bash", "--args", `{"comand":"ls"}`}, 2, []string{"did you mean", "adze tools schema bash"}},
		"unknown":           {[]string{"nope"}, 2, []string{"no tool", "adze tools list"}},
		"out of time":       {[]string{"bash", "--args", `{"command":"sleep 60"}`, "--permission-mode", "yolo", "--max-time", "300ms"}, 6, []string{"longer than 300ms"}},
		"past its limit":    {[]string{"bash", "--args", `{"command":"echo begun; sleep 60","timeout":1}`, "--permission-mode", "yolo"}, 8, []string{"begun", "timed out"}},
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			u.run(append([]string{"tools", "run"}, c.args...)...).wants(c.code, c.says...)
		})
	}
	u.t = t
	if _, err := os.Stat(filepath.Join(u.dir, "c")); err == nil {
		t.Error("a denied command ran")
	}
	r := u.runWith(strings.NewReader(`{"path":"a.txt"}`), "tools", "run", "read", "--args", "-", "--json").wants(0)
	var l map[string]any
	decode(t, r.out, &l)
	record := l["record"].(map[string]any)
	if l["status"] != "completed" || l["exit_code"] != 0.0 || record["output_sha256"] == "" || record["session"] != l["session"] {
		t.Errorf("line = %v", l)
	}
	u.run("audit", "verify", fmt.Sprint(l["session"])).wants(0, "as they were written")
	before := u.run("session", "list").out
	u.run("tools", "run", "read", "--args", `{"path":"a.txt"}`, "--no-session").wants(0)
	if after := u.run("session", "list").out; after != before {
		t.Error("--no-session was saved")
	}
}

func TestAuditShowsWhatWasDecided(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ncall bash: {\"command\":\"echo one\"}\ncall write: {\"path\":\"a\",\"content\":\"the secret\"}\ncall reed: {}\n-- 2 --\ntext: end\n")
	u.run("-p", model, "--allow", "execute(echo **)", "hi").wants(0)
	r := u.run("audit", "show").wants(0, "bash completed", "allowed by allow execute(echo **) (command line)", "needs execute echo one",
		"write denied", "denied by (mode ask)", "reed invalid", "fault lookup unknown_tool", "prompt ")
	if strings.Contains(r.out, "the secret") {
		t.Error("an argument that may not be logged is shown")
	}
	var calls, requests int
	for l := range strings.Lines(u.run("audit", "show", "--json").wants(0).out) {
		var item struct{ Request, Call map[string]any }
		decode(t, l, &item)
		if item.Request != nil {
			requests++
			if hash, _ := item.Request["prompt_sha256"].(string); len(hash) != 64 {
				t.Errorf("prompt hash %q", hash)
			}
		} else {
			calls++
		}
	}
	if calls != 3 || requests != 2 {
		t.Errorf("%d calls and %d requests, want 3 and 2", calls, requests)
	}
}

func TestStatsCountByToolAndByModel(t *testing.T) {
	u := newUser(t)
	u.file("a", "x\n")
	u.run("audit", "stats").wants(0, "0 sessions")
	u.run("-p", u.script("-- 1 --\ncall read: {\"path\":\"a\"}\ncall read: {\"path\":\"a\",\"limit\":\"1\"}\ncall read: {\"path\":\"b\"}\n-- 2 --\ntext: end\n"), "hi").wants(0)
	u.run("tools", "run", "read", "--args", `{"path":"a"}`).wants(0)
	u.run("audit", "stats").wants(0, "2 sessions · 2 model requests, 0 failed · 4 calls", "1 (25.0 %)", "1 not_found", "hand/tools-run")
	var s struct {
		Sessions int
		Tools    []struct {
			Name            string
			Calls, Repaired int
			Status          map[string]int
			Latency         map[string]float64
		}
		Models []struct {
			Name            string
			Requests, Calls int
		}
	}
	decode(t, u.run("audit", "stats", "--json").wants(0).out, &s)
	if s.Sessions != 2 || len(s.Tools) != 1 || s.Tools[0].Calls != 4 || s.Tools[0].Repaired != 1 || s.Tools[0].Status["failed"] != 1 || s.Tools[0].Latency["p99_ms"] <= 0 {
		t.Errorf("stats = %+v", s)
	}
	if len(s.Models) != 2 || s.Models[0].Requests != 2 || s.Models[0].Calls != 3 || s.Models[1].Requests != 0 || s.Models[1].Calls != 1 {
		t.Errorf("models = %+v", s.Models)
	}
	id, _, _ := strings.Cut(u.run("session", "list").out, " ")
	u.run("audit", "stats", "--session", id).wants(0, "1 session · 0 model requests, 0 failed · 1 call ·")
}

func TestPermissionsAreExplained(t *testing.T) {
	u := newUser(t)
	u.configure(`{"allow": ["execute(go vet **)"], "deny": ["execute(rm **)"]}`)
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"allowed":        {[]string{"go vet ./..."}, 0, []string{"allow: allow execute(go vet **) (user)"}},
		"every part":     {[]string{"go vet && sudo rm x"}, 7, []string{"deny: deny execute(rm **) (user)", "go vet\n      allow: allow execute(go vet **) (user); the rule matches it", "    rm x"}},
		"asked":          {[]string{"git push"}, 7, []string{"ask: mode ask", "needs approval", "would grant: allow execute(git push)"}},
		"wider":          {[]string{"go test ./x"}, 7, []string{"would grant: allow execute(go test ./x)\nor, as the program: allow execute(go test **)"}},
		"what it covers": {[]string{"go test ./x"}, 7, []string{"covers: go test with any options and names", "not: go with another subcommand", "always: in every workspace"}},
		"an MCP tool":    {[]string{"mcp:files read_file"}, 7, []string{"would grant: allow execute(mcp:files read_file)\nor, as the server: allow execute(mcp:files **)", "whatever its arguments", "not: other tools, other servers"}},
		"its rule":       {[]string{"mcp:files read_file", "--allow", "execute(mcp:files read_*)"}, 0, []string{"allow: allow execute(mcp:files read_*) (command line)"}},
		"its denial":     {[]string{"mcp:files read_file", "--permission-mode", "yolo", "--deny", "execute(mcp:* read_*)"}, 7, []string{"deny: deny execute(mcp:* read_*) (command line)"}},
		"opaque":         {[]string{"go vet $X"}, 7, []string{"no rule can allow it: it contains $X"}},
		"a mode":         {[]string{"git push", "--permission-mode", "yolo"}, 0, []string{"allow: mode yolo"}},
		"plan":           {[]string{"go vet", "--permission-mode", "plan"}, 7, []string{"deny: mode plan", "nothing may be changed"}},
		"flags":          {[]string{"git push", "--allow", "execute(git **)"}, 0, []string{"(command line)"}},
		"refused bytes":  {[]string{"ls \u202e x"}, 7, []string{"direction of text"}},
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			r := u.run(append([]string{"permission", "test"}, c.args...)...).wants(c.code, c.says...)
			if strings.Contains(r.out, "\u202e") {
				t.Error("a hidden character reached the terminal")
			}
			var j map[string]any
			decode(t, u.run(append([]string{"permission", "test", "--json"}, c.args...)...).wants(c.code).out, &j)
			if (j["effect"] == "allow") != (c.code == 0) || j["command"] != c.args[0] {
				t.Errorf("json = %v", j)
			}
		})
	}
}
