package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/session"
)

// chatBody is a request to an OpenAI server, its parts as they were sent.
type chatBody struct {
	Messages []json.RawMessage
	Tools    json.RawMessage
}

// grown checks that each request begins with the bytes of the one before.
func grown(t *testing.T, bodies []string) {
	t.Helper()
	var last chatBody
	for i, body := range bodies {
		var now chatBody
		if err := json.Unmarshal([]byte(body), &now); err != nil {
			t.Fatal(err)
		}
		if i > 0 && (string(now.Tools) != string(last.Tools) || len(now.Messages) < len(last.Messages)) {
			t.Fatalf("request %d has other tools, or %d messages after %d", i+1, len(now.Messages), len(last.Messages))
		}
		for j, m := range last.Messages {
			if string(m) != string(now.Messages[j]) {
				t.Fatalf("message %d of request %d changed:\n%s\n%s", j, i+1, m, now.Messages[j])
			}
		}
		last = now
	}
}

// A folder's instructions join once behind the calls that reached it, also when they are read three
// times in one step, by another run of the session, and with the file gone meanwhile; nothing that
// was sent before changes.
func TestInstructionsOfADeeperFolderJoinOnce(t *testing.T) {
	u := newUser(t)
	u.file(".git/HEAD", "ref: refs/heads/main\n")
	u.file("AGENTS.md", "Root rule.\n")
	u.file("web/AGENTS.md", "Web rule: <always> & \"quoted\".\n")
	u.file("web/ui/CLAUDE.md", "Ui rule.\n")
	for _, name := range []string{"web/a.go", "web/b.go", "web/ui/c.go"} {
		u.file(name, "package x\n")
	}
	three := chatStream("", 1, `read {"path":"web/a.go"}`, `read {"path":"web/b.go"}`, `read {"path":"web/ui/c.go"}`)
	asked := modelOf(u, three, three, chatStream("done", 4), chatStream("", 1, `edit {"path":"web/a.go","edits":[{"old":"x","new":"y"}]}`), chatStream("done", 4))
	r := u.run("-p", "--model", "openai/m", "--output-format", "stream-json", "look").wants(0, `"type":"note"`, `"from":"web/AGENTS.md"`, "web/ui/CLAUDE.md")
	if notes, ok := r.result()["notes"].([]any); !ok || len(notes) != 2 {
		t.Errorf("the result tells of %v", r.result()["notes"])
	}
	if err := os.Remove(filepath.Join(u.dir, "web/ui/CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	u.run("-p", "--continue", "--permission-mode", "edits", "--model", "openai/m", "go on").wants(0)
	bodies := asked()
	if len(bodies) != 5 {
		t.Fatalf("the model was asked %d times", len(bodies))
	}
	grown(t, bodies)
	for i, body := range bodies {
		web, ui := strings.Count(body, "Web rule: "), strings.Count(body, "Ui rule.")
		if want := min(i, 1); web != want || ui != want {
			t.Errorf("request %d holds the folder's instructions %d and %d times, want %d", i+1, web, ui, want)
		}
	}
	if !strings.Contains(bodies[1], `<note from=\"web/AGENTS.md\" sha256=\"`) {
		t.Errorf("the note is not marked: %s", bodies[1])
	}
}

// Instructions that joined late stand behind the summary of what they came after, and are not told
// again.
func TestInstructionsThatJoinedSurviveASummary(t *testing.T) {
	u := newUser(t)
	u.configure(`{"models": {"script/*": {"context": 9000}}}`)
	u.file("web/AGENTS.md", "Web rule.\n")
	u.file("web/long.txt", strings.Repeat("a line of a long file\n", 1200))
	u.file("web/short.txt", "short\n")
	model := u.script(`-- 1 --
call read: {"path":"web/long.txt"}
-- 2 the summary --
expect prompt: (?s)^Stop working now
text: The file has a line again and again.
-- 3 --
expect note: (?s)^<note from="web/AGENTS.md" sha256="[0-9a-f]{12}">.Instructions for files in web:..Web rule.
call read: {"path":"web/short.txt"}
-- 4 --
expect read completed: short
text: ok
`)
	u.run("-p", model, "--output-format", "stream-json", "what is in it?").wants(0, `"type":"compact"`)
	record := filepath.Join(u.home, "record")
	u.run("-p", u.script("-- 1 --\ncall read: {\"path\":\"web/short.txt\"}\n-- 2 --\ntext: ok\n"), "--continue", "--record", record, "and why?").wants(0)
	sent, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(sent), "\n") {
		if n := strings.Count(line, "Web rule."); n > 1 {
			t.Errorf("a request holds the instructions %d times: %s", n, line)
		}
	}
	if !strings.Contains(string(sent), "Web rule.") || strings.Contains(string(sent), "a line of a long file") {
		t.Errorf("the continued session sent %s", sent)
	}
}

// TestARepositoryOfManyAssistants prints how much the instructions of five other assistants add to
// the first request.
func TestARepositoryOfManyAssistants(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "HOME="+u.home)
	asked := modelOf(u, chatStream("done", 4))
	u.file(".git/HEAD", "ref: refs/heads/main\n")
	u.run("-p", "--model", "openai/m", "hi").wants(0)
	files := map[string]string{
		"CLAUDE.md": "Run make check.\n@docs/style.md\n<!-- for people -->\n", "docs/style.md": "Tabs.\n", "GEMINI.md": "Run make check.\n",
		".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nNo any.\n", ".cursor/rules/db.mdc": "---\ndescription: migrations\n---\nOnly forward.\n",
		".github/instructions/go.instructions.md": "---\napplyTo: '**/*.go'\n---\nWrap errors.\n", ".github/copilot-instructions.md": "Be brief.\n",
		".claude/rules/tests.md": "Test first.\n", "sub/AGENTS.md": "Sub rule.\n",
	}
	size := 0
	for name, text := range files {
		u.file(name, text)
		size += len(text)
	}
	u.run("-p", "--model", "openai/m", "hi").wants(0, "read in the place of AGENTS.md: CLAUDE.md, .cursor/rules/always.mdc, .claude/rules/tests.md")
	var c struct{ Sources []session.Source }
	r := u.run("context", "--json").wants(0)
	if err := json.Unmarshal([]byte(r.out), &c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CLAUDE.md", ".cursor/rules/always.mdc", ".claude/rules/tests.md"} {
		if !slices.ContainsFunc(c.Sources, func(s session.Source) bool {
			return s.Kind == "instructions" && s.Name == want && strings.HasSuffix(s.Path, "/"+want) && s.Bytes > 0
		}) {
			t.Errorf("adze tools context tells nothing of %s: %s", want, r.out)
		}
	}
	bodies := asked()
	grew := len(bodies[1]) - len(bodies[0])
	t.Logf("the first request has %d bytes, %d without the %d files of %d bytes: %d more", len(bodies[1]), len(bodies[0]), len(files), size, grew)
	if grew < 100 || grew > 600 {
		t.Errorf("the first request grew by %d bytes", grew)
	}
	for text, want := range map[string]bool{"make check": true, "Tabs.": true, "No any.": true, "Test first.": true, "db.mdc: migrations": true,
		"Only forward": false, "Wrap errors": false, "Be brief.": false, "for people": false, "Sub rule": false} {
		if strings.Contains(bodies[1], text) != want {
			t.Errorf("%q stands in the first request: %v", text, !want)
		}
	}
}

// /init works without an interface, in a bare run too, and before a project's command of that name.
func TestInitWithoutAnInterface(t *testing.T) {
	u, _ := homed(t)
	u.file(".claude/commands/init.md", "Theirs.")
	for _, flag := range []string{"--no-session", "--bare"} {
		u.run("-p", flag, u.answers(`(?s)^/init in German\n\n<command from="adze" sha256="[0-9a-f]{16}">\nWrite AGENTS\.md .*Leave that file as it is.*\nin German\n</command>$`), "/init in German").wants(0, "yes")
	}
}
