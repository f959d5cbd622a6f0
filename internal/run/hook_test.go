package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hooks writes the user's own hooks.
func (u *user) hooks(text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.home, "hooks.json"), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// has reports whether a file is in the workspace, and removes it.
func (u *user) has(name string) bool {
	_, err := os.Stat(filepath.Join(u.dir, name))
	os.Remove(filepath.Join(u.dir, name))
	return err == nil
}

// entry is one of the user's file: an event, what chooses tools, and a text for a shell.
func entry(event, tools, text string) string {
	raw, _ := json.Marshal(map[string]string{"tools": tools, "command": text})
	return `{"hooks": {"` + event + `": [` + string(raw) + `]}}`
}

// What a hook says before a call, and what comes of it where nobody can be asked.
func TestAHookHasASayBeforeACall(t *testing.T) {
	u := newUser(t)
	call := "-- 1 --\ncall bash: {\"command\": \"touch one\"}\n-- 2 --\nexpect bash %\ntext: done\n"
	for name, c := range map[string]struct {
		hook, status string
		one, two     bool
	}{
		"silence":                     {`true`, "completed: .", true, false},
		"allow":                       {`echo '{"decision": "allow"}'`, "completed: .", true, false},
		"deny":                        {`echo '{"decision": "deny", "reason": "not on a Sunday"}'`, "denied: the hook person/before_tool/1 denied it: not on a Sunday", false, false},
		"exit 2":                      {`echo no >&2; exit 2`, "denied: the hook person/before_tool/1 denied it: no", false, false},
		"ask":                         {`echo '{"decision": "ask", "reason": "sure?"}'`, "denied: the hook person/before_tool/1 wants you to look: sure.; nobody is here", false, false},
		"garbage":                     {`echo garbage`, "denied: the hook person/before_tool/1 failed: it did not answer with one decision: garbage; nobody", false, false},
		"1 GiB":                       {`exec head -c 1073741824 /dev/zero`, "denied: the hook person/before_tool/1 failed: it wrote more than 64 KiB", false, false},
		"changed":                     {`echo '{"arguments": {"command": "touch two"}}'`, "completed: .the hook person/before_tool/1 changed this call", false, true},
		"changed to break a schema":   {`echo '{"arguments": {"comand": "touch two"}}'`, "denied: the hook person/before_tool/1 failed: its changed arguments do not fit bash", false, false},
		"changed to what is denied":   {`echo '{"arguments": {"command": "rm -r two"}}'`, "denied: .*forbidden by the rule", false, false},
		"changed to what needs ask":   {`echo '{"arguments": {"command": "mkdir two"}}'`, "denied: .*not allowed; add --allow", false, false},
		"allow of what a rule denies": {`echo '{"decision": "allow", "arguments": {"command": "rm one"}}'`, "denied: .*forbidden by the rule", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			u.hooks(entry("before_tool", "bash", c.hook))
			u.run("-p", "--allow", "execute(touch **)", "--deny", "execute(rm **)", u.script(strings.Replace(call, "%", c.status, 1)), "hi").wants(endOf(strings.HasPrefix(c.status, "denied")), "done")
			if one, two := u.has("one"), u.has("two"); one != c.one || two != c.two {
				t.Errorf("one %v, two %v", one, two)
			}
		})
	}
}

// No mode lifts what a hook objects to: a guard that fails guards also where everything else is let
// through.
func TestAHookHoldsInEveryMode(t *testing.T) {
	u := newUser(t)
	for _, mode := range []string{"ask", "edits", "auto", "yolo"} {
		for hook, why := range map[string]string{`exit 1`: "failed: exit code 1", `echo '{"decision": "ask"}'`: "wants you to look", `exit 2`: "denied it"} {
			u.hooks(entry("before_tool", "", hook))
			u.run("-p", "--permission-mode", mode, u.script("-- 1 --\ncall read: {\"path\": \"x\"}\n-- 2 --\nexpect read denied: "+why+"\ntext: done\n"), "hi").wants(7, "done")
		}
	}
}

// Hooks fire for the calls of subagents, which cannot leave them behind.
func TestHooksFireForSubagents(t *testing.T) {
	u := newUser(t)
	u.hooks(entry("before_tool", "read", `cat >> seen; echo >> seen; echo '{"decision": "deny", "reason": "secret"}'`))
	u.file("a.txt", "x")
	u.run("-p", "--permission-mode", "edits", u.script(`-- 1 --
call task: {"description": "look", "prompt": "read it", "agent": "explore"}
-- 2 --
text: done
-- explore: look: 1 --
call read: {"path": "a.txt"}
-- explore: look: 2 --
expect read denied: denied it: secret
text: I could not.
`), "hi").wants(0, "done")
	raw, _ := os.ReadFile(filepath.Join(u.dir, "seen"))
	if !strings.Contains(string(raw), `"agent":"explore: look"`) {
		t.Errorf("the hook saw %s", raw)
	}
}

// The other moments: context for the model, a prompt that is not sent, a turn that goes on.
func TestHooksOfASession(t *testing.T) {
	u := newUser(t)
	u.hooks(`{"hooks": {
		"session_start": [{"command": "echo '{\"context\": \"the branch is main\"}'"}],
		"prompt": [{"command": "grep -q forbidden && echo '{\"decision\": \"deny\", \"reason\": \"not that\"}'; exit 0"}],
		"after_tool": [{"tools": "write", "command": "echo '{\"context\": \"lint: a.go is unformatted\"}'"}],
		"stop": [{"command": "test -e tested && exit 0; touch tested; echo '{\"decision\": \"deny\", \"reason\": \"run the tests first\"}'"}],
		"notification": [{"command": "echo x >> told"}]}}`)
	r := u.run("-p", "--output-format", "stream-json", "--permission-mode", "edits", u.script(`-- 1 --
call write: {"path": "a.go", "content": "x"}
-- 2 --
expect write completed: .
expect note: lint: a.go is unformatted
text: first
-- 3 --
expect prompt: run the tests first
text: second
`), "hi").wants(0, "the branch is main", "second")
	if !u.has("told") {
		t.Errorf("nothing was told of the end\n%s", r.out)
	}
	denied := u.run("-p", "--output-format", "json", u.script("-- 1 --\ntext: sent\n"), "forbidden words")
	if denied.code == 0 || !strings.Contains(denied.out, "denied it: not that") || strings.Contains(denied.out, "sent") {
		t.Errorf("%d %s %s", denied.code, denied.out, denied.err)
	}
}

// Hooks of a project, as Claude Code has them, are shown as what they are here, inert until each is
// allowed, and no longer what was allowed when the script that they name changes.
func TestAProjectsHooksNeedConsent(t *testing.T) {
	u := newUser(t)
	u.file(".claude/settings.json", `{"hooks": {
		"PreToolUse": [{"matcher": "Bash|Write", "hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/check.sh --fast", "timeout": 5}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}}`)
	check := u.file(".claude/check.sh", "#!/bin/sh\ncat > seen\necho 'no commands here' >&2\nexit 2\n")
	if err := os.Chmod(check, 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(status string) ran {
		t.Helper()
		return u.run("-p", "--output-format", "stream-json", "--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\": \"touch made\"}\n-- 2 --\nexpect bash "+status+"\ntext: done\n"), "hi").wants(endOf(strings.HasPrefix(status, "denied")))
	}
	if r := run("completed: ."); !u.has("made") || u.has("seen") || !strings.Contains(r.out, "hook:claude/PreToolUse/1") || strings.Contains(r.out, `waiting":["hook:claude/SessionEnd`) {
		t.Errorf("before consent\n%s", r.out)
	}
	u.run("trust", "list").wants(0, "waiting  hook:claude/PreToolUse/1", "unused   hook:claude/SessionEnd/1", "adze has no event like SessionEnd")
	u.run("trust", "show", "claude/PreToolUse/1").wants(0, `"$CLAUDE_PROJECT_DIR"/.claude/check.sh --fast`, "when     PreToolUse Bash|Write", "here     before_tool of bash, write, at most 5s",
		"sets     ADZE_HOOK, CLAUDE_PROJECT_DIR", ".claude/check.sh sha256 ")
	u.run("trust", "allow", "claude/SessionEnd/1").wants(2, "does not run it")
	u.run("trust", "allow", "claude/PreToolUse/1").wants(0, "allowed")
	run("denied: the hook claude/PreToolUse/1 denied it: no commands here")
	raw, _ := os.ReadFile(filepath.Join(u.dir, "seen"))
	if u.has("made") || !strings.Contains(string(raw), `"hook_event_name":"PreToolUse"`) || !strings.Contains(string(raw), `"tool_input":{"command":"touch made"},"tool_name":"Bash"`) {
		t.Errorf("the hook read %s", raw)
	}
	u.has("seen")
	// The model takes the guard away while it works: what is not as it was allowed guards by
	// asking.
	u.file(".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh .claude/check.sh"}]}]}}`)
	u.file(".claude/check.sh", "true\n")
	u.run("trust", "allow", "claude/PreToolUse/1").wants(0, "allowed")
	u.run("-p", "--permission-mode", "yolo", u.script("-- 1 --\ncall write: {\"path\": \".claude/check2.sh\", \"content\": \"x\"}\ncall bash: {\"command\": \"echo '# none' > .claude/check.sh\"}\n-- 2 --\n"+
		"expect bash completed: .\ncall bash: {\"command\": \"touch made\"}\n-- 3 --\nexpect bash denied: the hook claude/PreToolUse/1 failed: .*check.sh changed\ntext: done\n"), "hi").wants(0)
	if u.has("made") {
		t.Error("a call went past a guard that was changed")
	}
	if r := run("completed: ."); !strings.Contains(r.out, "hook:claude/PreToolUse/1 (changed)") {
		t.Errorf("a changed hook is not named\n%s", r.out)
	}
}

// A hook that calls adze starts none of the hooks again, and what it says comes back.
func TestAHookMayCallAdze(t *testing.T) {
	u := newUser(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(u.home, "inner.txtar")
	if err := os.WriteFile(inner, []byte("# a test\n-- 1 --\ncall read: {\"path\": \"a.txt\"}\n-- 2 --\nexpect read completed: .\ntext: judged\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.file("a.txt", "x\n")
	u.hooks(entry("before_tool", "read", `echo x >> ran; answer=$(`+asMain+`=1 ADZE_HOME='`+u.home+`' '`+self+`' -p --no-session --model=script/`+inner+` 'is it safe?'); echo "{\"context\": \"$answer\"}"`))
	u.run("-p", u.script("-- 1 --\ncall read: {\"path\": \"a.txt\"}\n-- 2 --\nexpect read completed: .\nexpect note: judged\ntext: done\n"), "hi").wants(0, "done")
	if raw, _ := os.ReadFile(filepath.Join(u.dir, "ran")); string(raw) != "x\n" {
		t.Errorf("it ran %q", raw)
	}
}

// What the user's file says wrongly stops the start, as what others can write does: a guard that
// is not there guards nothing.
func TestMistakesInHooksStopTheStart(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: x\n")
	for text, want := range map[string]string{
		`{"hooks": {"before_tol": [{"command": "x"}]}}`:                     "no event like before_tol",
		`{"hooks": {"before_tool": [{"tools": "(?!x)", "command": "x"}]}}`:  "cannot be translated",
		`{"hooks": {"before_tool": [{"command": "x", "timeout": "soon"}]}}`: "its timeout",
	} {
		u.hooks(text)
		u.run("-p", model, "hi").wants(2, "hooks.json", want, "hint")
	}
	u.hooks(entry("prompt", "", "true"))
	if err := os.Chmod(filepath.Join(u.home, "hooks.json"), 0o666); err != nil {
		t.Fatal(err)
	}
	u.run("-p", model, "hi").wants(2, "can be written by others")
}

// The log keeps what each hook did.
func TestHooksAreInTheAudit(t *testing.T) {
	u := newUser(t)
	u.hooks(entry("before_tool", "read", `echo '{"decision": "deny", "reason": "ghp_aB3dE5gH7jaB3dE5gH7jaB3dE5gH7jaB3dE5"}'`))
	u.run("-p", u.script("-- 1 --\ncall read: {\"path\": \"x\"}\n-- 2 --\ntext: done\n"), "hi").wants(7)
	r := u.run("audit", "show").wants(0, "hook  person/before_tool/1", "before_tool deny")
	if strings.Contains(r.out, "ghp_") {
		t.Errorf("a secret is in the audit\n%s", r.out)
	}
	u.run("audit", "show", "--json").wants(0, `"hook":{"hook":"person/before_tool/1"`)
	u.run("help", "hooks").wants(0, "before_tool", "ADZE_HOOK=1")
}

// TestAHookThatCannotRunIsNamed: claude-code 2.1 knows types of hooks that adze does not run.
func TestAHookThatCannotRunIsNamed(t *testing.T) {
	u := newUser(t)
	u.file(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "is it done?"}]}]}}`)
	r := u.run("-p", u.script("-- 1 --\nexpect prompt: hi\ntext: done\n"), "hi").wants(0)
	if want := `adze does not run hook:claude/Stop/1 of this project: it is of the type "prompt"`; !strings.Contains(r.err, want) {
		t.Errorf("%q is not told: %s", want, r.err)
	}
}
