package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/project/hooks/dialect"
	"adze/session"
	"adze/tool"
)

// bench is an engine with hooks of real programs, and what it told.
type bench struct {
	t *testing.T
	*Engine
	mu    sync.Mutex
	runs  []session.HookRun
	notes []string
	call  string // the arguments of the call, as hooks left them
}

// newBench makes hooks of shell texts for one event, of adze's own dialect.
func newBench(t *testing.T, event string, texts ...string) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, Engine: New(dir)}
	b.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	var entries []string
	for _, text := range texts {
		raw, _ := json.Marshal(text)
		entries = append(entries, `{"command": `+string(raw)+`}`)
	}
	b.file(".adze/hooks.json", fmt.Sprintf(`{"hooks": {%q: [%s]}}`, event, strings.Join(entries, ",")))
	return b
}

// file has the engine use the hooks of a file.
func (b *bench) file(name, text string) {
	b.t.Helper()
	hooks, err := dialect.Read(name, []byte(text))
	if err != nil {
		b.t.Fatal(err)
	}
	var programs []Program
	for n, h := range hooks {
		programs = append(programs, Program{Hook: h, Name: fmt.Sprint(n + 1)})
	}
	b.Use(programs...)
}

// fire tells the hooks of a moment.
func (b *bench) fire(ctx context.Context, m session.Moment) tool.Ruling {
	b.t.Helper()
	m.Session = "s1"
	m.OnHookEnd = func(r session.HookRun) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.runs = append(b.runs, r)
	}
	m.Note = func(from, text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.notes = append(b.notes, from+": "+text)
	}
	return b.Fire(ctx, m)
}

// bash tells the hooks of a call of bash.
func (b *bench) bash(arguments string) tool.Ruling {
	b.t.Helper()
	b.call = arguments
	return b.fire(b.t.Context(), session.Moment{Event: session.HookBefore, Look: &tool.Look{
		Call: "c1", Tool: "bash", Arguments: json.RawMessage(arguments),
		Change: func(raw json.RawMessage, _ string) error {
			if !strings.Contains(string(raw), `"command"`) {
				return fmt.Errorf("its changed arguments do not fit bash: command is missing")
			}
			b.call = string(raw)
			return nil
		},
	}})
}

// Claude Code 2.1.332 runs a command once for a call that three entries name it for, with other
// matchers and times; one blank more makes another command.
func TestACommandOfSeveralEntriesRunsOnce(t *testing.T) {
	b := newBench(t, session.HookBefore)
	b.file(".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]},
		{"matcher": "*", "hooks": [{"type": "command", "command": "true", "timeout": 7}, {"type": "command", "command": "true "}]}]}}`)
	if b.bash(`{"command": "ls"}`); len(b.runs) != 2 {
		t.Errorf("%+v", b.runs)
	}
}

// Whatever a program does instead of answering has one outcome before a call: a user is asked.
func TestWhatAHookDoesInsteadOfAnswering(t *testing.T) {
	for name, c := range map[string]struct{ text, ask string }{
		"says nothing":         {`cat >/dev/null`, ""},
		"allows":               {`echo '{"decision": "allow"}'`, ""},
		"rubbish":              {`echo yes`, "failed: it did not answer with one decision: yes"},
		"half an object":       {`printf '{"decision": '`, "failed: it did not answer with one decision"},
		"bytes":                {`head -c 1000 /dev/zero`, "failed: it did not answer"},
		"fails":                {`echo why >&2; exit 3`, "failed: exit code 3: why"},
		"is not there":         {`no-such-program`, "failed: exit code 127"},
		"dies by a signal":     {`kill -9 $$`, "failed: ended by signal SIGKILL"},
		"ignores the signal":   {`trap '' TERM; kill -TERM $$; echo '{}'`, ""},
		"floods":               {`exec head -c 1073741824 /dev/zero`, "failed: it wrote more than 64 KiB"},
		"floods its errors":    {`exec head -c 1073741824 /dev/zero >&2`, "failed: it wrote more than 64 KiB"},
		"closes its input":     {`exec <&-; echo '{}'`, ""},
		"never reads":          {`echo '{}'`, ""},
		"closes its output":    {`exec >&- 2>&-; exit 0`, ""},
		"forks and lingers":    {`(sleep 600 &) ; sleep 600 & echo '{}'`, ""},
		"wants a terminal":     {`read x </dev/tty; echo "$?" >&2; exit 1`, "failed: exit code 1"},
		"asks":                 {`echo '{"decision": "ask", "reason": "sure?"}'`, "wants you to look: sure?"},
		"changes to no object": {`echo '{"arguments": [1]}'`, "failed: its changed arguments are no JSON object"},
		"breaks the schema":    {`echo '{"arguments": {"cmd": "x"}}'`, "failed: its changed arguments do not fit bash: command is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "before_tool", c.text)
			big, _ := json.Marshal(map[string]string{"command": strings.Repeat("x", 1<<20)}) // more than any pipe holds
			r := b.bash(string(big))
			if r.Deny != "" || !strings.Contains(r.Ask, c.ask) || (c.ask == "") != (r.Ask == "") {
				t.Errorf("deny %q, ask %q, want %q", r.Deny, r.Ask, c.ask)
			}
			if b.call != string(big) || len(b.runs) != 1 || b.runs[0].Duration <= 0 || b.runs[0].Tool != "bash" {
				t.Errorf("%d runs, of them the last %+v", len(b.runs), b.runs)
			}
		})
	}
}

// A hook that hangs is ended with all that it started, and the call is asked about.
func TestAHookThatHangs(t *testing.T) {
	b := newBench(t, "before_tool")
	b.file(".adze/hooks.json", `{"hooks": {"before_tool": [{"command": "sleep 600 & echo $! > pid; wait", "timeout": "300ms"}]}}`)
	r := b.bash(`{"command": "x"}`)
	if !strings.Contains(r.Ask, "failed: it did not answer within 300ms") {
		t.Errorf("%+v", r)
	}
	raw, err := os.ReadFile(filepath.Join(b.Dir, "pid"))
	if err != nil {
		t.Skip("it was ended before it had begun: ", err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(raw))); err == nil {
		t.Error("what it started still runs")
	}
}

// An abort ends a hook at once, and nothing is said for it.
func TestAnAbortEndsAHook(t *testing.T) {
	b := newBench(t, "prompt", "echo > began; sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(b.Dir, "began")); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
		}
	}()
	if r := b.fire(ctx, session.Moment{Event: session.HookPrompt, Text: "hi"}); r != (tool.Ruling{}) || len(b.runs) != 1 || b.runs[0].Decision != session.HookAborted {
		t.Errorf("%+v %+v", r, b.runs)
	}
}

// Hooks run in order: each sees what the ones before have made of the call, a denial ends them, and
// a question does not.
func TestHooksOfOneCallRunInOrder(t *testing.T) {
	b := newBench(t, "before_tool",
		`echo '{"arguments": {"command": "two"}, "context": "first"}'`,
		`echo '{"decision": "ask", "reason": "hm"}'`,
		`grep -q '"command":"two"' && echo '{"decision": "deny", "reason": "saw two"}'`,
		`touch ran`)
	r := b.bash(`{"command": "one"}`)
	if b.call != `{"command":"two"}` && b.call != `{"command": "two"}` {
		t.Errorf("the call is %s", b.call)
	}
	if r.Deny != "the hook 3 denied it: saw two" || r.Hook != "hook 3" || len(b.runs) != 3 || !b.runs[0].Changed || b.runs[0].Context != len("first") {
		t.Errorf("%+v %+v", r, b.runs)
	}
	if strings.Join(b.notes, "|") != "1: first" {
		t.Errorf("notes %q", b.notes)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, "ran")); err == nil {
		t.Error("a hook ran after a denial")
	}
}

// A hook is found to be about a moment before anything is started, and consent is looked at right
// before each start.
func TestNothingIsStartedInVain(t *testing.T) {
	b := newBench(t, "before_tool")
	b.file(".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "touch ran"}]}], "Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1/"}]}]}}`)
	if r := b.bash(`{"command": "x"}`); r != (tool.Ruling{}) || len(b.runs) != 0 {
		t.Errorf("%+v %+v", r, b.runs)
	}
	b = newBench(t, "before_tool", "touch ran")
	p := b.Programs()
	p[0].Holds = func() error { return fmt.Errorf("check.sh changed") }
	b.Use(p...)
	if r := b.bash(`{"command": "x"}`); r.Ask != "the hook 1 failed: check.sh changed" {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, "ran")); err == nil {
		t.Error("a hook ran that was not allowed so")
	}
}

// Elsewhere a failure is told and nothing else comes of it.
func TestFailuresElsewhereAreTold(t *testing.T) {
	for _, event := range []string{session.HookStart, session.HookPrompt, session.HookAfter, session.HookCompact, session.HookStop} {
		b := newBench(t, event, "exit 1")
		m := session.Moment{Event: event, Text: "x"}
		if event == session.HookAfter {
			m.Look = &tool.Look{Tool: "bash", Arguments: json.RawMessage(`{}`), Outcome: &tool.Outcome{Status: tool.Completed}}
		}
		if r := b.fire(t.Context(), m); r != (tool.Ruling{}) || len(b.runs) != 1 || b.runs[0].Decision != session.HookFailed {
			t.Errorf("%s: %+v %+v", event, r, b.runs)
		}
	}
}

// What hooks say is bounded, masked and without hidden characters before anybody gets it.
func TestWordsOfHooksAreCleaned(t *testing.T) {
	b := newBench(t, "prompt", `printf '{"context": "%s s3cret \357\273\277", "notice": "s3cret"}' "$(head -c 9000 /dev/zero | tr '\0' a)"`)
	b.Mask = func(s string) string { return strings.ReplaceAll(s, "s3cret", "*") }
	b.fire(t.Context(), session.Moment{Event: session.HookPrompt, Text: "x"})
	if len(b.notes) != 1 || len(b.notes[0]) > maxContext+64 || !strings.Contains(b.notes[0], "bytes left out") || len(b.runs) != 1 || b.runs[0].Notice != "*" {
		t.Fatalf("%d notes, runs %+v", len(b.notes), b.runs)
	}
}

// What a program finds: no secrets but what its environment was made of, no terminal, its folder,
// and that it is a hook.
func TestWhatAHookFinds(t *testing.T) {
	b := newBench(t, "prompt", `printf '{"context": "%s %s %s"}' "$ADZE_HOOK" "$CLAUDE_PROJECT_DIR" "$PWD"`)
	b.fire(t.Context(), session.Moment{Event: session.HookPrompt, Text: "x"})
	if want := "1: 1 " + b.Dir + " " + b.Dir; len(b.notes) != 1 || b.notes[0] != want {
		t.Errorf("%q, want %q", b.notes, want)
	}
}

// Notifications hold nobody up, and none is left when the engine is closed.
func TestNotificationsRunBeside(t *testing.T) {
	b := newBench(t, "notification", "echo > told")
	b.fire(t.Context(), session.Moment{Event: session.HookNotify, Kind: session.HookWaits})
	b.beside.Wait() // however long a busy machine takes; Close has less patience
	b.Close()
	if _, err := os.Stat(filepath.Join(b.Dir, "told")); err != nil || len(b.runs) != 1 {
		t.Errorf("%v %+v", err, b.runs)
	}
	b = newBench(t, "notification", "sleep 600")
	b.fire(t.Context(), session.Moment{Event: session.HookNotify, Kind: session.HookWaits})
	b.stop() // as Close does when its time is over
	b.Close()
	if len(b.runs) != 1 || b.runs[0].Decision != session.HookAborted {
		t.Errorf("%+v", b.runs)
	}
}

// A program of a user's hook is not found in the workspace, which would be the project's.
func TestTheWorkspaceBringsNoProgram(t *testing.T) {
	b := newBench(t, "prompt", "guard")
	b.Env[0] = "PATH=" + filepath.Join(b.Dir, "bin") + ":" + os.Getenv("PATH")
	if err := os.MkdirAll(filepath.Join(b.Dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.Dir, "bin/guard"), []byte("#!/bin/sh\ntouch ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.fire(t.Context(), session.Moment{Event: session.HookPrompt, Text: "x"})
	if _, err := os.Stat(filepath.Join(b.Dir, "ran")); err == nil || len(b.runs) != 1 || b.runs[0].Decision != session.HookFailed {
		t.Errorf("%v %+v", err, b.runs)
	}
	p := b.Programs()
	p[0].Holds = func() error { return nil } // what the project was allowed is pinned, wherever it is found
	b.Use(p...)
	b.fire(t.Context(), session.Moment{Event: session.HookPrompt, Text: "x"})
	if _, err := os.Stat(filepath.Join(b.Dir, "ran")); err != nil {
		t.Errorf("what was allowed did not run: %v %+v", err, b.runs)
	}
}

func TestTheHooksOfOneMomentHaveATimeTogether(t *testing.T) {
	b := newBench(t, "before_tool", `echo '{}'`, `touch ran`)
	now := time.Unix(0, 0)
	b.Now = func() time.Time { now = now.Add(16 * time.Second); return now }
	r := b.bash(`{"command": "x"}`)
	if !strings.Contains(r.Ask, "took all of the 30s") {
		t.Errorf("%+v %+v", r, b.runs)
	}
}

// The file of a user must be theirs alone, and say nothing that would not run.
func TestFilesOfPersons(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	if got, err := Load(path, os.Getuid(), "person"); got != nil || err != nil {
		t.Errorf("without a file: %v %v", got, err)
	}
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	good := `{"hooks": {"stop": [{"command": "x"}], "before_tool": [{"command": ["x"]}, {"tools": "bash", "command": "y"}]}} // mine
`
	write(good, 0o600)
	got, err := Load(path, os.Getuid(), "person")
	if err != nil || len(got) != 3 || got[0].Name != "person/before_tool/1" || got[1].Name != "person/before_tool/2" || got[2].Name != "person/stop/1" {
		t.Errorf("%v %v", got, err)
	}
	if os.Getuid() != 0 {
		if _, err := Load(path, os.Getuid()+1, "person"); err == nil || !strings.Contains(err.Error(), "belongs to somebody else") {
			t.Errorf("another's: %v", err)
		}
	}
	for text, want := range map[string]string{
		`{"hooks": {"befor_tool": [{"command": "x"}]}}`:       "no event like befor_tool",
		`{"hooks": {"stop": [{"command": "x"}], "stop": []}}`: "already",
		`{"hook": {}}`: `unknown field "hook"`,
		`{"hooks": {"stop": [{"command": "x", "when": "now"}]}}`: `unknown field "when"`,
		`{"hooks": {"stop": [{"command": ["./check"]}]}}`:        "by its whole path",
		`{"hooks": {"stop": [{"command": ["bin/check"]}]}}`:      "by its whole path",
		`[`: "",
	} {
		write(text, 0o600)
		if _, err := Load(path, os.Getuid(), "person"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	write(good, 0o622)
	if _, err := Load(path, os.Getuid(), "person"); err == nil || !strings.Contains(err.Error(), "written by others") {
		t.Errorf("writable by others: %v", err)
	}
}
