package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAnEditorHoldsAWholeConversation: a session with thoughts, texts, a plan, calls that are asked
// about in each way, modes, a picture, and the same again when it is loaded.
func TestAnEditorHoldsAWholeConversation(t *testing.T) {
	u := newUser(t)
	u.file("old.txt", "one\ntwo\nthree\n")
	model := u.script("-- 1 --\nreasoning: First a list.\ntext: I will write.\ncall todowrite: {\"todos\":[{\"content\":\"write\",\"status\":\"in_progress\",\"priority\":\"high\"},{\"content\":\"test\",\"status\":\"pending\"}]}\n" +
		"-- 2 --\ncall write: {\"file_path\":\"new.txt\",\"content\":\"new\\n\"}\n" +
		"-- 3 --\nexpect write completed: .\ncall read: {\"file_path\":\"old.txt\"}\n" +
		"-- 4 --\ncall edit: {\"file_path\":\"old.txt\",\"old_string\":\"two\",\"new_string\":\"zwei\"}\n" +
		"-- 5 --\nexpect edit completed: .\ncall bash: {\"command\":\"touch never\"}\n" +
		"-- 6 --\nexpect bash denied: .\ncall ask: {\"question\":\"Which one?\",\"choices\":[\"SQLite\",\"Postgres\"]}\n" +
		"-- 7 --\nexpect ask completed: Postgres\ntext: All done.\n" +
		"-- 8 --\nexpect prompt: (?s)look.*/tmp/x.go.*package x\ntext: A dot.\n")
	said, kinds := u.editor(`
const e = connect({ permit: (p) => {
  const named = (word) => p.options.find((o) => o.kind === word)?.optionId;
  if (p.options.some((o) => o.name === "Postgres")) return p.options.find((o) => o.name === "Postgres").optionId;
  if (p.toolCall.title.includes("touch")) return named("reject_once");
  return named(p.toolCall.title.includes("old.txt") ? "allow_always" : "allow_once");
} });
say("init", await e.init());
const s = await e.open();
say("new", s);
await e.when((n) => n.update.sessionUpdate === "available_commands_update");
say("first", await e.prompt(s.sessionId, "write it"));
await e.request("session/set_mode", { sessionId: s.sessionId, modeId: "edits" });
say("mode", (await e.request("session/set_config_option", { sessionId: s.sessionId, configId: "mode", value: "ask" })).configOptions.map((o) => o.currentValue));
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
say("second", await e.prompt(s.sessionId, "look ", { type: "image", data: png, mimeType: "image/png" },
  { type: "resource", resource: { uri: "file:///tmp/x.go", text: "package x\n", mimeType: "text/x-go" } }, { type: "resource_link", uri: "file:///tmp/y.go", name: "y.go" }));
say("audio", (await e.fails("session/prompt", { sessionId: s.sessionId, prompt: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] })).message);
say("live", story(e.updates, s.sessionId));
say("asked", e.asked);
say("titles", e.updates.filter((n) => n.update.sessionUpdate === "session_info_update").map((n) => n.update.title));
say("list", (await e.request("session/list", { cwd: folder })).sessions);
await e.request("session/close", { sessionId: s.sessionId });
say("closed", (await e.fails("session/prompt", { sessionId: s.sessionId, prompt: [{ type: "text", text: "x" }] })).code);
e.updates.length = 0;
say("load", await e.request("session/load", { sessionId: s.sessionId, cwd: folder, mcpServers: [] }));
say("again", story(e.updates, s.sessionId));
await e.request("session/delete", { sessionId: s.sessionId });
say("left", (await e.request("session/list", {})).sessions.length);
say("gone", (await e.fails("session/load", { sessionId: s.sessionId, cwd: folder, mcpServers: [] })).code);
say("exit", await e.leave());
`, model)
	if got := fmt.Sprint(said["first"], said["second"]); !strings.Contains(got, "stopReason:end_turn") || strings.Contains(got, "cancelled") {
		t.Errorf("turns ended with %s", got)
	}
	wants(t, said, "init", `"loadSession":true`, `"login"`)
	wants(t, said, "new", `"category":"model"`, `"category":"mode"`, `"currentModeId":"ask"`)
	wants(t, said, "mode", `"ask"`)
	wants(t, said, "audio", "audio is not taken")
	wants(t, said, "live", "First a list.", "I will write.", `"kind":"edit"`, `"oldText":"one\ntwo\nthree\n"`, `"newText":"one\nzwei\nthree\n"`,
		`"kind":"read"`, `"kind":"execute"`, `"status":"failed"`, `"priority":"high"`, filepath.Join(u.dir, "new.txt"), "All done.", "A dot.")
	wants(t, said, "asked", `"newText":"new\n"`, "Allow once", "Allow in this session: ", `"kind":"allow_always"`, "Postgres")
	wants(t, said, "titles", "write it")
	wants(t, said, "list", "write it", `"cwd"`)
	for name, want := range map[string]any{"closed": -32002.0, "gone": -32002.0, "left": 0.0, "exit": 0.0} {
		if said[name] != want {
			t.Errorf("%s: %v, want %v", name, said[name], want)
		}
	}
	sameStory(t, said["live"], said["again"])
	if _, err := os.Stat(filepath.Join(u.dir, "never")); err == nil {
		t.Error("what was rejected ran")
	}
	for _, kind := range []string{"agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool_call", "tool_call_update", "plan",
		"available_commands_update", "current_mode_update", "config_option_update", "session_info_update"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("no %s was told", kind)
		}
	}
}

// wants looks for parts of what a scenario said, as JSON.
func wants(t *testing.T, said map[string]any, name string, parts ...string) {
	t.Helper()
	text := asJSON(t, said[name])
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not say %q: %.3000s", name, part, text)
		}
	}
}

// sameStory compares what was told as it happened with what session/load tells: the prompts, which
// the editor knows when it sends them, are told only then.
func sameStory(t *testing.T, live, again any) {
	t.Helper()
	texts := func(of any) (out []string) {
		for _, item := range of.(map[string]any)["out"].([]any) {
			m := item.(map[string]any)
			if m["kind"] != "user_message_chunk" {
				out = append(out, asJSON(t, m))
			}
		}
		return append(out, asJSON(t, of.(map[string]any)["plan"]))
	}
	a, b := texts(live), texts(again)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i >= len(b):
			t.Fatalf("%d parts were told, and %d again", len(a), len(b))
		case a[i] != b[i]:
			t.Errorf("told:  %.1500s\nagain: %.1500s", a[i], b[i])
		}
	}
	if users := strings.Count(asJSON(t, again), "user_message_chunk"); users < 2 {
		t.Errorf("%d parts of prompts were told again", users)
	}
}
