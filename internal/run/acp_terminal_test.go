package run_test

import (
	"strings"
	"testing"
)

// TestAnEditorsTerminalRunsCommandsWithoutASandbox, and only then: with one, commands run in it. A
// cancel kills what runs there, and a command that the editor does not run runs here.
func TestAnEditorsTerminalRunsCommandsWithoutASandbox(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ncall bash: {\"command\":\"echo one\"}\n" +
		"-- 2 --\nexpect bash failed: (?s)from the editor.*exit code 3\ncall bash: {\"command\":\"echo here\"}\n" +
		"-- 3 --\nexpect bash completed: here\ncall bash: {\"command\":\"sleep 86496\"}\n")
	const scenario = `
let made = 0, killed, ids = [];
const e = connect({ permit: () => "once", terminal: {
  create: (p) => { if (p.args.at(-1).includes("here")) throw new Error("not here"); say("cwd", p.cwd === folder); ids.push("t" + ++made); return { terminalId: ids.at(-1) }; },
  wait: (p) => p.terminalId === "t1" ? { exitCode: 3 } : new Promise((done) => { killed = () => done({ signal: "SIGKILL" }); e.notify("session/cancel", { sessionId: p.sessionId }); }),
  kill: (p) => { say("killed", p.terminalId); killed?.(); return {}; },
  output: () => ({ output: "from the editor\n", truncated: false }),
  release: (p) => { say("released " + p.terminalId, true); return {}; },
} });
await e.init({ terminal: true });
const s = await e.open();
say("end", await e.prompt(s.sessionId, "go"));
say("made", made);
say("story", story(e.updates, s.sessionId));
await e.leave();
`
	said, _ := u.editor(scenario, "--sandbox", "off", "--permission-mode", "yolo", model)
	wants(t, said, "end", `"stopReason":"cancelled"`)
	wants(t, said, "story", `"terminalId":"t1"`, `"type":"terminal"`, "from the editor", "here")
	for name, want := range map[string]any{"cwd": true, "killed": "t2", "released t1": true, "released t2": true, "made": 2.0} {
		if said[name] != want {
			t.Errorf("%s: %v", name, said[name])
		}
	}
	said, _ = u.editor(strings.Replace(scenario, "let made", "setTimeout(() => process.exit(7), 200_000).unref(); let made", 1),
		"--permission-mode", "yolo", u.script("-- 1 --\ncall bash: {\"command\":\"echo one\"}\n-- 2 --\nexpect bash completed: one\ntext: Done.\n"))
	wants(t, said, "end", `"stopReason":"end_turn"`)
	if said["made"] != 0.0 {
		t.Errorf("%v terminals were made although there is a sandbox", said["made"])
	}
}
