package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnEditorChoosesModelsAndCommands: another model answers from the next prompt on, in the same
// session, also one in which nothing was said; a slash runs a command of the project; a session of
// another folder is beside it and knows nothing of it.
func TestAnEditorChoosesModelsAndCommands(t *testing.T) {
	u := newUser(t)
	u.file(".adze/commands/greet.md", "---\ndescription: say hello\nargument-hint: NAME\n---\nGreet $ARGUMENTS politely.\n")
	first := u.script("-- 1 --\ntext: I am the first.\n")
	second := filepath.Join(u.home, "second.txtar")
	if err := os.WriteFile(second, []byte("# t\n-- 1 --\nexpect prompt: Greet Ada politely\ntext: Good day, Ada.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	namer := filepath.Join(u.home, "namer.txtar")
	if err := os.WriteFile(namer, []byte("# t\n-- 1 --\ntext: A first meeting\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.configure(fmt.Sprintf(`{"title_model": "script/%s"}`, namer))
	said, _ := u.editor(fmt.Sprintf(`
const e = connect(), model = %q;
await e.init();
const s = await e.open(), id = s.sessionId;
const commands = (await e.when((n) => n.sessionId === id && n.update.sessionUpdate === "available_commands_update")).update.availableCommands;
say("commands", commands);
say("unknown", (await e.fails("session/set_config_option", { sessionId: id, configId: "model", value: "nobody/knows" })).message);
await e.request("session/set_config_option", { sessionId: id, configId: "model", value: model });
await e.request("session/set_config_option", { sessionId: id, configId: "effort", value: "high" });
say("no effort", (await e.fails("session/set_config_option", { sessionId: id, configId: "effort", value: "enormous" })).code);
say("no option", (await e.fails("session/set_config_option", { sessionId: id, configId: "colour", value: "red" })).code);
say("no mode", (await e.fails("session/set_mode", { sessionId: id, modeId: "wild" })).code);
await e.request("session/set_config_option", { sessionId: id, configId: "model", value: s.configOptions.find((o) => o.id === "model").currentValue });
say("first", await e.prompt(id, "who are you"));
await e.when((n) => n.sessionId === id && n.update.sessionUpdate === "session_info_update" && n.update.title === "A first meeting");
say("options", (await e.request("session/set_config_option", { sessionId: id, configId: "model", value: model })).configOptions.map((o) => o.currentValue));
say("second", await e.prompt(id, "/greet Ada"));
const other = await e.open("/");
say("third", await e.prompt(other.sessionId, "who are you"));
const told = (id) => e.updates.filter((n) => n.sessionId === id).map((n) => n.update.content?.text ?? "").join("");
say("told", told(id));
say("beside", told(other.sessionId));
say("known", story(e.updates, other.sessionId).out.length);
await e.leave();
const again = connect();
await again.init();
await again.request("session/load", { sessionId: id, cwd: folder, mcpServers: [] });
say("loaded", story(again.updates, id).out.map((o) => o.text));
say("pages", (await again.request("session/list", {})).sessions.map((s) => s.title));
await again.leave();
`, "script/"+second), first)
	wants(t, said, "commands", `"name":"greet"`, `"description":"say hello"`, `"hint":"NAME"`, `"name":"init"`)
	wants(t, said, "unknown", "nobody")
	wants(t, said, "options", "second.txtar", "high")
	wants(t, said, "told", "I am the first.", "Good day, Ada.")
	wants(t, said, "beside", "I am the first.")
	wants(t, said, "loaded", "who are you", "I am the first.", "Good day, Ada.", "/greet Ada")
	wants(t, said, "pages", "A first meeting")
	for _, name := range []string{"no effort", "no option", "no mode"} {
		if said[name] != -32602.0 {
			t.Errorf("%s: %v", name, said[name])
		}
	}
	for _, name := range []string{"first", "second", "third"} {
		wants(t, said, name, `"stopReason":"end_turn"`)
	}
}

// TestAnEditorWithFormsRewritesACall: an editor that shows forms has a command rewritten before it
// runs, gives a reason with a no, and answers a question in words.
func TestAnEditorWithFormsRewritesACall(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ncall bash: {\"command\":\"touch one\"}\n-- 2 --\nexpect bash completed: (?s).\ncall bash: {\"command\":\"touch three\"}\n" +
		"-- 3 --\nexpect bash denied: three are too many\ncall ask: {\"question\":\"Where to?\"}\n-- 4 --\nexpect ask completed: home\ntext: Done.\n")
	said, _ := u.editor(`
const e = connect({
  permit: (p) => p.options.find((o) => o.optionId === (p.toolCall.title.includes("one") ? "rewrite" : "no-because")).optionId,
  elicit: (p) => {
    const field = Object.keys(p.requestedSchema.properties)[0];
    const words = p.message.includes("Where") ? "home" : p.message.includes("instead") ? p.requestedSchema.properties.text.default.replace("one", "two") : "three are too many";
    return { action: "accept", content: { [field]: words } };
  },
});
await e.init({ elicitation: { form: {} } });
const s = await e.open();
say("end", await e.prompt(s.sessionId, "go"));
say("story", story(e.updates, s.sessionId));
await e.leave();
`, model)
	wants(t, said, "end", `"stopReason":"end_turn"`)
	wants(t, said, "story", `"command":"touch two"`, "three are too many", "Done.")
	for name, want := range map[string]bool{"one": false, "two": true, "three": false} {
		if _, err := os.Stat(filepath.Join(u.dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	if text := asJSON(t, said["story"]); strings.Count(text, `"status":"completed","title"`) != 2 {
		t.Errorf("the calls ended otherwise: %s", text)
	}
}
