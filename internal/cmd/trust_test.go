package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A project's tool is inert until its person allows it, runs under the gate then, and is inert
// again with any change.
func TestAProjectsToolRunsOnlyAsItWasAllowed(t *testing.T) {
	u := newUser(t)
	u.file(".adze/tools/lint.json", `{"name": "lint", "description": "Lint.", "parameters": {"type": "object", "properties": {}}, "command": ["./lint.sh"]}`)
	program := u.file(".adze/tools/lint.sh", "#!/bin/sh\necho linted > "+filepath.Join(u.dir, "ran")+"\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	ran := func() bool {
		_, err := os.Stat(filepath.Join(u.dir, "ran"))
		os.Remove(filepath.Join(u.dir, "ran"))
		return err == nil
	}
	run := func(status, allow string) ran0 {
		t.Helper()
		model := u.script("-- 1 --\nexpect prompt: hi\ncall lint: {}\n-- 2 --\nexpect lint " + status + "\ntext: done\n")
		return ran0{u.run("-p", "--output-format", "stream-json", model, "--allow", allow, "hi").wants(endOf(strings.HasPrefix(status, "denied"))), ran()}
	}
	allow := "execute(" + program + ")"
	r := run("invalid: .", allow)
	if r.effect || !strings.Contains(r.out, `"project_items_ignored":1,"project_items_waiting":["tool:lint"]`) || !strings.Contains(r.out, "ignored until you allow it: tool:lint") {
		t.Fatalf("before consent: ran %v\n%s", r.effect, r.out)
	}
	u.run("trust", "list").wants(0, "waiting", "tool:lint", "./lint.sh")
	shown := u.run("trust", "show", "lint").wants(0, "./lint.sh", ".adze/tools/lint.sh sha256 ", "sha256")
	hash := strings.TrimSpace(shown.out[strings.LastIndex(shown.out, " "):])
	u.run("trust", "allow", "lint", "--hash", "00000000").wants(2, hash)
	u.run("trust", "allow", "lint", "--hash", hash[:12]).wants(0, "allowed")
	u.run("trust", "list", "--json").wants(0, `"state":"allowed"`)
	if r := run("completed: .", allow); !r.effect || !strings.Contains(r.out, `"project_items_ignored":0`) {
		t.Fatalf("allowed: ran %v\n%s", r.effect, r.out)
	}
	if r := run("denied: .", "read"); r.effect {
		t.Error("consent answered a question of the gate")
	}
	u.file(".adze/tools/lint.sh", "#!/bin/sh\ntouch ran\n")
	if r := run("invalid: .", allow); r.effect || !strings.Contains(r.out, "tool:lint (changed)") {
		t.Errorf("changed: ran %v\n%s", r.effect, r.out)
	}
	u.run("trust", "allow", "lint").wants(0)
	// The model itself changes the script while the session runs.
	model := u.script("-- 1 --\ncall bash: {\"command\": \"sh -c 'echo touch ran > .adze/tools/lint.sh'\"}\n-- 2 --\ncall lint: {}\n-- 3 --\nexpect lint denied: .adze/tools/lint.sh changed\ntext: done\n")
	if u.run("-p", model, "--permission-mode", "yolo", "hi").wants(0); ran() {
		t.Error("a script that changed after consent ran")
	}
	u.run("trust", "revoke", "lint").wants(0, "revoked: tool:lint")
	u.run("trust", "list").wants(0, "waiting")
	u.run("trust", "allow", "nothing").wants(2, `no "nothing"`)
}

type ran0 struct {
	ran
	effect bool
}

// A project's own file narrows what its person allows, and widens nothing.
func TestAProjectsRulesOnlyNarrow(t *testing.T) {
	u := newUser(t)
	u.file(".adze/config.json", `{"deny": ["write(vendor/**)"], "ask": ["execute(touch **)"], "allow": ["execute(mkdir **)"], "permission_mode": "yolo"} // ours`+"\n")
	const steps = "-- 1 --\ncall write: {\"path\": \"vendor/x\", \"content\": \"x\"}\ncall bash: {\"command\": \"touch a\"}\ncall bash: {\"command\": \"mkdir b\"}\ncall write: {\"path\": \"c\", \"content\": \"x\"}\n-- 2 --\ntext: done\n"
	r := u.run("-p", "--output-format", "stream-json", "--permission-mode", "edits", "--allow", "write", "--allow", "execute(touch **)", u.script(steps), "hi").wants(0,
		".adze/config.json of this project sets what only you may set, which is ignored: allow, permission_mode; it may only deny and ask", `"layer":"project"`)
	for name, want := range map[string]bool{"vendor/x": false, "a": false, "b": false, "c": true} {
		if _, err := os.Stat(filepath.Join(u.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v\n%s", name, err, r.out)
		}
	}
	u.file(".adze/config.json", `{"deny": ["wirte(vendor/**)"]}`)
	u.run("-p", u.script("-- 1 --\ntext: x\n"), "hi").wants(2, "deny in .adze/config.json", "hint")
	u.file(".adze/config.json", `{"deny": [`)
	u.run("-p", u.script("-- 1 --\ntext: x\n"), "hi").wants(2, "config.json", "hint: mend the project's file, or remove it")
}
