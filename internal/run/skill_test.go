package run_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// caller is a server that answers with calls, then with a text, and keeps what it was asked.
type caller struct {
	mu    sync.Mutex
	calls []string // name and arguments, one answer each
	asked []askedFor
}

type askedFor struct {
	Tools    json.RawMessage   `json:"tools"`
	Messages []json.RawMessage `json:"messages"`
}

func (c *caller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var q askedFor
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &q) // one that is none has no messages
	c.asked = append(c.asked, q)
	w.Header().Set("Content-Type", "text/event-stream")
	if n := len(c.asked); n <= len(c.calls) {
		name, args, _ := strings.Cut(c.calls[n-1], " ")
		delta, _ := json.Marshal(map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprintf("c%d", n), "type": "function", "function": map[string]string{"name": name, "arguments": args}}}})
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", delta)
		return
	}
	io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"done\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

const pdfSkill = "---\nname: pdf\ndescription: Fill forms. Use when: forms\n---\nUse scripts/fill.py.\n"

// A skill stands in the index, its text comes once and late, what lies beside it is read without a
// question, and each request begins with the bytes of the one before.
func TestASkillIsLoadedWhenItIsNeeded(t *testing.T) {
	u, home := homed(t)
	home(".claude/skills/pdf/SKILL.md", pdfSkill)
	home(".claude/skills/pdf/scripts/fill.py", "print('filled')\n")
	home(".claude/skills/pdf/.env", "KEY=1\n")
	home("other/private.txt", "PRIVATE\n")
	u.file(".agents/skills/own/SKILL.md", "---\nname: own\ndescription: Of the project\n---\nText.\n")
	c := &caller{calls: []string{`skill {"name":"pdf"}`, `skill {"name":"pdf"}`, `skill {"query":"fill forms"}`, `skill {"name":"pfd"}`}}
	folder := u.own
	c.calls = append(c.calls, `read {"path":"`+folder+`/.claude/skills/pdf/scripts/fill.py"}`, `read {"path":"`+folder+`/.claude/skills/pdf/.env"}`,
		`read {"path":"`+folder+`/other/private.txt"}`)
	u.serve(c.ServeHTTP)
	r := u.run("-p", "--output-format", "stream-json", "--model", "openai/m", "fill the form").wants(0)
	want := "skill completed\nskill completed\nskill completed\nskill failed not_found\nread completed\nread denied denied\nread denied denied"
	if got := strings.Join(r.ends(), "\n"); got != want {
		t.Errorf("the calls came to\n%s\nwant\n%s", got, want)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	first := string(c.asked[0].Messages[0])
	if !strings.Contains(first, `Skills (load with skill{name} before such work):\n- own: Of the project\n- pdf: Fill forms. Use when: forms\n`) {
		t.Errorf("the system prompt has no index: %s", first)
	}
	for n := range c.asked[1:] {
		before, after := c.asked[n], c.asked[n+1]
		if string(before.Tools) != string(after.Tools) {
			t.Errorf("request %d has other tools", n+2)
		}
		for i, m := range before.Messages {
			if string(m) != string(after.Messages[i]) {
				t.Errorf("request %d has another message %d", n+2, i)
			}
		}
	}
	last := fmt.Sprintf("%s", c.asked[len(c.asked)-1].Messages)
	for text, times := range map[string]int{"Use scripts/fill.py.": 1, "already above": 1, "did you mean pdf?": 1, "PRIVATE": 0, "KEY=1": 0} {
		if got := strings.Count(last, text); got != times {
			t.Errorf("%q stands there %d times, want %d", text, got, times)
		}
	}
}

// Without skills there is no tool and no index; which skills there are does not change the tools.
func TestToolsDoNotDependOnWhichSkillsThereAre(t *testing.T) {
	tools := func(files map[string]string) (string, string) {
		u, _ := homed(t)
		for name, text := range files {
			u.file(name, text)
		}
		c := &caller{}
		u.serve(c.ServeHTTP)
		u.run("-p", "--model", "openai/m", "hi").wants(0, "done")
		c.mu.Lock()
		defer c.mu.Unlock()
		return strings.ReplaceAll(string(c.asked[0].Tools), u.dir, ""), string(c.asked[0].Messages[0])
	}
	none, system := tools(nil)
	if strings.Contains(none, `"skill"`) || strings.Contains(system, "Skills (") {
		t.Error("there are skills without skills")
	}
	one, _ := tools(map[string]string{".claude/skills/a/SKILL.md": "---\ndescription: d\n---\nx"})
	other, _ := tools(map[string]string{".claude/skills/b/SKILL.md": "---\ndescription: e\n---\nx", ".agents/skills/c/SKILL.md": "---\ndescription: f\n---\nx"})
	if one != other || !strings.Contains(one, `"skill"`) {
		t.Error("the tools depend on which skills there are")
	}
}

// The user names a skill, and it comes as a note before what they wrote; it is said again when
// the conversation is summed up, as one that the model loaded is.
func TestSkillsOutliveACompaction(t *testing.T) {
	for name, steps := range map[string]string{
		"of the model":  "-- 1 --\nexpect prompt: ^read it$\ncall skill: {\"name\":\"pdf\"}\n-- 2 --\nexpect skill completed: fill.py\n",
		"of the person": "-- 1 --\nexpect prompt: (?s)^/pdf now\\n\\n.follow the skill pdf, whose text is in the note above.\n",
	} {
		u, home := homed(t)
		home(".claude/skills/pdf/SKILL.md", pdfSkill)
		u.configure(`{"models": {"script/*": {"context": 12000}}}`)
		u.file("long.txt", strings.Repeat("a line of a long file\n", 1600))
		text := steps + "call read: {\"path\":\"long.txt\"}\n-- SUM the summary --\nexpect prompt: (?s)^Stop working now\ntext: It was read.\n-- END --\ntext: The same line.\n"
		n := strings.Count(steps, " --\n")
		model := u.script(strings.NewReplacer("SUM", fmt.Sprint(n+1), "END", fmt.Sprint(n+2)).Replace(text))
		words := map[bool]string{true: "read it", false: "/pdf now"}[name == "of the model"]
		u.run("-p", model, "--output-format", "stream-json", words).wants(0, `"type":"compact"`)
		record := u.home + "/record"
		u.run("-p", u.answers("^why\\?$"), "--continue", "--record", record, "why?").wants(0)
		sent := u.read(record)
		if !strings.Contains(sent, "Use scripts/fill.py.") || !strings.Contains(sent, `note from=`) || strings.Contains(sent, "a line of a long file") {
			t.Errorf("%s: after the summary was sent\n%s", name, sent)
		}
	}
}

func (u *user) read(path string) string {
	u.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(raw)
}
