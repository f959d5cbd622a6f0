package dialect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/session"
)

// one reads a file with one hook.
func one(t *testing.T, file, text string) Hook {
	t.Helper()
	hooks, err := Read(file, []byte(text))
	if err != nil || len(hooks) != 1 {
		t.Fatalf("%d hooks, %v", len(hooks), err)
	}
	return hooks[0]
}

func claude(t *testing.T, event, matcher string) Hook {
	t.Helper()
	return one(t, ".claude/settings.json", fmt.Sprintf(`{"hooks": {%q: [{"matcher": %q, "hooks": [{"type": "command", "command": "check"}]}]}}`, event, matcher))
}

func TestEachFileIsTranslated(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{".adze/hooks.json", `{"hooks": {"before_tool": [{"tools": "bash", "command": ["./check", "-x"], "timeout": "2s"}]}}`, "before_tool of bash, at most 2s"},
		{".adze/hooks.json", `{"hooks": {"stop": [{"command": "make test"}]}}`, "stop, at most 10s"},
		{".adze/hooks.json", `{"hooks": {"before_tool": [{"tool": "bash", "command": "x"}]}}`, `not run: an entry has tools, command, timeout and description: unknown field "tool"`},
		{".adze/hooks.json", `{"hooks": {"before_tools": [{"command": "x"}]}}`, "not run: adze has no event like before_tools"},
		{".adze/hooks.json", `{"hooks": {"stop": [{"command": "x", "timeout": "soon"}]}}`, `not run: its timeout "soon" is none`},
		{".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "x", "timeout": 600}]}]}}`, "before_tool of bash, edit, at most 10s"},
		{".claude/settings.local.json", `{"hooks": {"PostToolUse": [{"matcher": "Edit|Write|MultiEdit", "hooks": [{"type": "command", "command": "x", "timeout": 5}]}]}}`, "after_tool of edit, write, of calls that completed, at most 5s"},
		{".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Notebook.*|mcp__.*", "hooks": [{"type": "command", "command": "x"}]}]}}`, "before_tool of other tools (Notebook.*|mcp__.*), at most 10s"},
		{".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "", "hooks": [{"type": "command", "command": "x"}]}]}}`, "before_tool of every tool, at most 10s"},
		{".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "(?!Bash).*", "hooks": [{"type": "command", "command": "x"}]}]}}`, "not run: its matcher (?!Bash).* cannot be translated"},
		{".claude/settings.json", `{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, "prompt, not of subagents, at most 10s"},
		{".claude/settings.json", `{"hooks": {"SubagentStop": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, "stop, of subagents, at most 10s"},
		{".claude/settings.json", `{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, "not run: adze has no event like SessionEnd"},
		{".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "is it done?"}]}]}}`, `not run: it is of the type "prompt"`},
		{".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1/"}]}]}}`, `not run: it is of the type "http"`},
		{".claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "if": "Bash(git *)"}]}]}}`, "not run: its condition (if)"},
		{".claude/settings.json", `{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}`, "not run: disableAllHooks is set"},
		{".codex/hooks.json", `{"hooks": {"PreToolUse": [{"matcher": "apply_patch", "hooks": [{"type": "command", "command": "x"}]}]}}`, "before_tool of edit, write, at most 10s"},
		{".gemini/settings.json", `{"hooks": {"BeforeTool": [{"matcher": "replace", "hooks": [{"type": "command", "command": "x"}]}]}}`, "not run: adze has no counterpart; write it into .claude"},
	} {
		if got := one(t, c.file, c.text).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s\nis %q\nwant %q", c.file, c.text, got, c.want)
		}
	}
}

func TestBrokenFilesHaveNoHooks(t *testing.T) {
	for _, text := range []string{`{}`, `{"hooks": {}}`, `{"hooks": {"Stop": 5}}`, `{"hooks": {"Stop": [5, {"hooks": [7]}, {"hooks": "x"}, {}]}}`, `{"model": "x"}`} {
		if hooks, err := Read(".claude/settings.json", []byte(text)); err != nil || len(hooks) != 0 {
			t.Errorf("%s: %v %v", text, hooks, err)
		}
	}
	for _, text := range []string{`[]`, `{"hooks": [`, `{"hooks": 5}`} {
		if _, err := Read(".claude/settings.json", []byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// A hook is about the tools that its own assistant means by a name, at the agents at which it fires
// there.
func TestWhatAHookIsAbout(t *testing.T) {
	call := func(tool, agent string) Moment { return Moment{Event: session.HookBefore, Tool: tool, Agent: agent} }
	for _, c := range []struct {
		hook Hook
		m    Moment
		name string
		yes  bool
	}{
		{claude(t, "PreToolUse", "Bash"), call("bash", ""), "Bash", true},
		{claude(t, "PreToolUse", "Bash"), call("bash", "general: x"), "Bash", true},
		{claude(t, "PreToolUse", "Bash"), call("bash_output", ""), "", false},
		{claude(t, "PreToolUse", "Bash.*"), call("bash_output", ""), "BashOutput", true},
		{claude(t, "PreToolUse", "MultiEdit"), call("edit", ""), "MultiEdit", true},
		{claude(t, "PreToolUse", "Edit, Write"), call("edit", ""), "Edit", true},
		{claude(t, "PreToolUse", "Task"), call("task", ""), "Task", true},
		{claude(t, "PreToolUse", "bash"), call("bash", ""), "", false},
		{claude(t, "PreToolUse", "*"), call("lint", ""), "lint", true},
		{claude(t, "Stop", ""), Moment{Event: session.HookStop, Agent: "explore: x"}, "", false},
		{claude(t, "SubagentStop", ""), Moment{Event: session.HookStop, Agent: "explore: x"}, "", true},
		{claude(t, "SessionStart", "resume"), Moment{Event: session.HookStart, Kind: session.HookFresh}, "", false},
		{claude(t, "SessionStart", "startup|resume"), Moment{Event: session.HookStart, Kind: session.HookFresh}, "", true},
		{claude(t, "PreCompact", "manual"), Moment{Event: session.HookCompact}, "", false},
		{claude(t, "Notification", "permission_prompt"), Moment{Event: session.HookNotify, Kind: session.HookWaits}, "", true},
		{claude(t, "PostToolUse", ""), Moment{Event: session.HookAfter, Tool: "bash", Status: "failed"}, "", false},
		{claude(t, "PostToolUseFailure", ""), Moment{Event: session.HookAfter, Tool: "bash", Status: "failed"}, "Bash", true},
	} {
		if name, yes := c.hook.Applies(c.m); name != c.name || yes != c.yes {
			t.Errorf("%s %s of %+v: %q %v, want %q %v", c.hook.Native, c.hook.Matcher, c.m, name, yes, c.name, c.yes)
		}
	}
}

// Programs of each dialect read a moment as their own JSON.
func TestInput(t *testing.T) {
	m := Moment{Event: session.HookBefore, Session: "s1", Agent: "explore: it", Cwd: "/w", Mode: "edits", Call: "c1", Tool: "edit",
		Arguments: json.RawMessage(`{"path": "a/b.go", "old_string": "<x>", "new_string": "y"}`)}
	own := one(t, ".adze/hooks.json", `{"hooks": {"before_tool": [{"command": "x"}]}}`)
	bash := Moment{Event: session.HookBefore, Session: "s1", Cwd: "/w", Mode: "ask", Call: "c1", Tool: "bash", Arguments: json.RawMessage(`{"command": "ls", "timeout": 5, "background": true}`)}
	for _, c := range []struct {
		hook Hook
		m    Moment
		want string
	}{
		{claude(t, "PreToolUse", ""), m, `{"agent_id":"explore: it","agent_type":"explore","cwd":"/w","hook_event_name":"PreToolUse","permission_mode":"acceptEdits","session_id":"s1","tool_input":{"file_path":"/w/a/b.go","new_string":"y","old_string":"<x>"},"tool_name":"Edit","tool_use_id":"c1","transcript_path":"/dev/null"}`},
		{claude(t, "PreToolUse", ""), bash, `{"cwd":"/w","hook_event_name":"PreToolUse","permission_mode":"default","session_id":"s1","tool_input":{"command":"ls","run_in_background":true,"timeout":5000},"tool_name":"Bash","tool_use_id":"c1","transcript_path":"/dev/null"}`},
		{own, m, `{"agent":"explore: it","arguments":{"path":"a/b.go","old_string":"<x>","new_string":"y"},"call":"c1","cwd":"/w","event":"before_tool","mode":"edits","session":"s1","tool":"edit"}`},
		{claude(t, "Stop", ""), Moment{Event: session.HookStop, Session: "s1", Cwd: "/w", Text: "done", Continuations: 1}, `{"cwd":"/w","hook_event_name":"Stop","last_assistant_message":"done","permission_mode":"default","session_id":"s1","stop_hook_active":true,"transcript_path":"/dev/null"}`},
		{claude(t, "UserPromptSubmit", ""), Moment{Event: session.HookPrompt, Cwd: "/w", Text: "hi"}, `{"cwd":"/w","hook_event_name":"UserPromptSubmit","permission_mode":"default","prompt":"hi","session_id":"","transcript_path":"/dev/null"}`},
	} {
		name, yes := c.hook.Applies(c.m)
		if got := string(c.hook.Input(c.m, name)); !yes || got != c.want {
			t.Errorf("%v\n%s\nwant\n%s", yes, got, c.want)
		}
	}
}

// Programs answer, and one thing comes of it. The meaning of exit codes and objects together was
// seen with claude-code 2.1.332, each against a model server.
func TestAnswers(t *testing.T) {
	own := Hook{Dialect: Own}
	pre, stop, post := claude(t, "PreToolUse", ""), claude(t, "Stop", ""), claude(t, "PostToolUse", "")
	start := claude(t, "SessionStart", "")
	for _, c := range []struct {
		hook           Hook
		event          string
		exit           int
		stdout, stderr string
		want           string // decision|reason|context, or an error
	}{
		{own, session.HookBefore, 0, "", "", "allow||"},
		{own, session.HookBefore, 0, `{}`, "noise", "allow||"},
		{own, session.HookBefore, 0, `{"decision":"deny","reason":"no"}`, "", "deny|no|"},
		{own, session.HookBefore, 0, `{"decision":"deny"}`, "", "deny|it gave no reason|"},
		{own, session.HookBefore, 0, `{"decision":"ask","reason":"sure?","context":"c"}`, "", "ask|sure?|c"},
		{own, session.HookBefore, 0, `{"decison":"deny"}`, "", "error: it did not answer with one decision"},
		{own, session.HookBefore, 0, `{"decision":"block"}`, "", `error: "block" is no decision`},
		{own, session.HookBefore, 0, `{"decision":"allow"}{"decision":"deny"}`, "", "error: it did not answer with one decision"},
		{own, session.HookBefore, 0, `ok`, "", "error: it did not answer"},
		{own, session.HookBefore, 1, `{"decision":"allow"}`, "boom\nmore", "error: exit code 1: boom"},
		{own, session.HookBefore, 2, `{"decision":"allow"}`, "because", "deny|because|"},
		{own, session.HookStop, 0, `{"decision":"ask"}`, "", "error: only before_tool can ask"},
		{own, session.HookPrompt, 0, `{"arguments":{}}`, "", "error: only before_tool has arguments"},
		{own, session.HookAfter, 0, `{"decision":"deny","reason":"lint fails","context":"x"}`, "", "allow|lint fails|x\nlint fails"},
		{own, session.HookNotify, 2, "", "x", "error: it cannot deny notification"},
		{pre, session.HookBefore, 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`, "", "deny|no|"},
		{pre, session.HookBefore, 0, `{"hookSpecificOutput":{"permissionDecision":"allow","additionalContext":"c"},"decision":"block","reason":"old"}`, "", "allow||c"},
		{pre, session.HookBefore, 0, `{"decision":"block","reason":"old"}`, "", "deny|old|"},
		{pre, session.HookBefore, 0, `{"decision":"approve","suppressOutput":true}`, "", "allow||"},
		{pre, session.HookBefore, 0, `{"continue":false,"stopReason":"enough"}`, "", "deny|enough||the turn ends"},
		{pre, session.HookBefore, 0, `{"hookSpecificOutput":{"permissionDecision":"defer"}}`, "", "ask||"},
		{pre, session.HookBefore, 0, `{"hookSpecificOutput":{"permissionDecision":"maybe"}}`, "", `error: "maybe" is no decision`},
		{pre, session.HookBefore, 0, `checked`, "", "allow||"},
		{pre, session.HookBefore, 0, "checked\n{\"decision\":\"block\"}", "", "error: it did not answer with one JSON object"},
		{pre, session.HookBefore, 1, `{"decision":"block","reason":"R1"}`, "ERR", "deny|R1|"},
		{pre, session.HookBefore, 1, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"R1"}}`, "", "deny|R1|"},
		{pre, session.HookBefore, 1, `{"decision":"approve"}`, "ERR", "error: exit code 1: ERR"},
		{pre, session.HookBefore, 1, `{"continue":false,"stopReason":"enough"}`, "", "deny|enough||the turn ends"},
		{pre, session.HookBefore, 2, `{"decision":"block","reason":"R1"}`, "ERR", "deny|R1|"},
		{pre, session.HookBefore, 2, `{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"R1"}}`, "ERR", "deny|ERR|"},
		{pre, session.HookBefore, 2, `{"decision":`, "ERR", "deny|ERR|"},
		{post, session.HookAfter, 0, `{"continue":false,"stopReason":"enough"}`, "", "allow|enough|enough|the turn ends"},
		{pre, session.HookBefore, 0, `{"decision":`, "", "error: it did not answer with one JSON object"},
		{pre, session.HookBefore, 2, ``, "blocked", "deny|blocked|"},
		{pre, session.HookBefore, 127, ``, "sh: jq: not found", "error: exit code 127: sh: jq: not found"},
		{post, session.HookAfter, 0, `formatted 1 file`, "", "allow||"},
		{post, session.HookAfter, 2, ``, "lint", "allow|lint|lint"},
		{start, session.HookStart, 0, `On branch main`, "", "allow||On branch main"},
		{stop, session.HookStop, 0, `{"decision":"block","reason":"run the tests"}`, "", "deny|run the tests|"},
		// claude-code 2.1.332 -p asks the model all the same.
		{start, session.HookStart, 0, `{"continue":false,"stopReason":"x"}`, "", "allow||"},
		{stop, session.HookStop, 0, `{"continue":false,"stopReason":"x"}`, "", "allow|||the turn ends"},
	} {
		a, err := c.hook.Answer(Moment{Event: c.event, Tool: "bash", Arguments: json.RawMessage(`{}`)}, c.exit, c.stdout, c.stderr)
		got := fmt.Sprintf("%s|%s|%s", a.Decision, a.Reason, a.Context)
		if a.Stop {
			got += "|the turn ends"
		}
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s %s %d %q: %q, want %q", c.hook.Dialect, c.event, c.exit, c.stdout, got, c.want)
		}
	}
}

// Arguments come back in adze's words only where that is certain, and what a program left as it was
// stays as it was.
func TestChangedArguments(t *testing.T) {
	for _, c := range []struct{ tool, args, updated, want string }{
		{"bash", `{"command":"npm i","timeout":7,"workdir":"web"}`, `{"command":"pnpm i"}`, `{"command":"pnpm i","workdir":"web"}`},
		{"bash", `{"command":"x","timeout":7}`, `{"command":"x","timeout":7000}`, `{"command":"x","timeout":7}`},
		{"bash", `{"command":"x"}`, `{"command":"x","timeout":1500,"run_in_background":true}`, `{"background":true,"command":"x","timeout":2}`},
		{"write", `{"path":"a.go","content":"x"}`, `{"file_path":"/w/a.go","content":"y"}`, `{"content":"y","path":"a.go"}`},
		{"write", `{"path":"a.go","content":"x"}`, `{"file_path":"/etc/passwd","content":"y"}`, `{"content":"y","path":"/etc/passwd"}`},
		{"edit", `{"path":"a","edits":[{"old_string":"a","new_string":"b"}]}`, `{"file_path":"/w/a","edits":[{"new_string":"b","old_string":"a"}]}`, `{"edits":[{"old_string":"a","new_string":"b"}],"path":"a"}`},
		{"edit", `{"path":"a","edits":[{"old_string":"a","new_string":"b"}]}`, `{"file_path":"/w/a","edits":[]}`, "error: its changed edits cannot be translated"},
	} {
		var updated map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.updated), &updated); err != nil {
			t.Fatal(err)
		}
		raw, err := Moment{Cwd: "/w", Tool: c.tool, Arguments: json.RawMessage(c.args)}.ownArguments(updated)
		got := string(raw)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.updated, got, c.want)
		}
	}
}

// Every argument that a program hands back unchanged is unchanged: no name is lost on the way.
func TestThereAndBack(t *testing.T) {
	args := `{"path":"a/b","command":"x","timeout":3,"background":false,"workdir":"w","include":"*.go","agent":"explore","edits":[],"content":"c","other":{"k":[1,2.5]}}`
	for _, tool := range append(slices.Collect(maps.Keys(claudeTools())), "lint") {
		m := Moment{Cwd: "/w", Tool: tool, Arguments: json.RawMessage(args)}
		if back, err := m.ownArguments(m.claudeArguments()); err != nil || !same(back, m.Arguments) {
			t.Errorf("%s: %s, %v", tool, back, err)
		}
	}
}

func TestTimes(t *testing.T) {
	for value, want := range map[string]time.Duration{`1`: time.Second, `0.5`: 500 * time.Millisecond, `600`: MaxTime, `1e300`: MaxTime} {
		h := one(t, ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": `+value+`}]}]}}`)
		if h.Timeout != want || h.Unsupported != "" {
			t.Errorf("%s is %s (%s)", value, h.Timeout, h.Unsupported)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}}`, `{"decision":"deny"}`)
	f.Fuzz(func(t *testing.T, file, text, answer string) {
		hooks, err := Read(file, []byte(text))
		if err != nil {
			return
		}
		for _, h := range hooks {
			for _, e := range session.HookEvents() {
				m := Moment{Event: e, Tool: "bash", Cwd: "/w", Arguments: json.RawMessage(`{"command":"x"}`)}
				name, yes := h.Applies(m)
				if yes && !json.Valid(h.Input(m, name)) {
					t.Errorf("its input is no JSON")
				}
				if a, err := h.Answer(m, 0, answer, ""); err == nil && a.Arguments != nil && !json.Valid(a.Arguments) {
					t.Errorf("changed arguments %s", a.Arguments)
				}
			}
			_ = h.String()
		}
	})
}
