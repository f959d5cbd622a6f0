package export_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"adze/internal/sessiondb/export"
	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// planted are secrets as people have them; none is real.
func planted() map[string]string {
	return map[string]string{
		"variable": "correct-horse-battery-staple", "file": "lowercase words nobody masks", "quoted": "zig zag zog 77",
		"github": "ghp_" + strings.Repeat("a1B2", 9), "anthropic": "sk-ant-api03-" + strings.Repeat("xY7_", 22) + "AA",
		"aws": "AKIA" + "QYLPMN5HHHFPZAM2", "address": "hunter2hunter2", "slack": "xoxb-123456789012-123456789012-" + strings.Repeat("Ab3", 8),
	}
}

// A planted secret appears in no form: one of the user's variables, of a .env file that a call
// read, in prompts and answers, in arguments, outputs and differences, as it is and hidden in
// control characters.
func TestNoFormHoldsAPlantedSecret(t *testing.T) {
	p := planted()
	l := &log{t: t}
	l.add(session.StartEntry, session.Start{Version: "0.1.0", Cwd: "/w/" + p["github"], Model: "p/large", System: p["anthropic"]})
	all := ""
	for _, value := range p {
		all += " " + value[:3] + "\x1b[0m" + value[3:] + " is not " + value + "\n" // coloured in the middle
	}
	all += "postgres://me:" + p["address"] + "@db/x " + `password = "` + p["quoted"] + `"`
	l.says(session.User, "first read .env, where "+p["github"]+" stands")
	m := l.says(session.Assistant, "I read it", calling("c1", "read", `{"path":".env"}`), calling("c2", "shell", "{}"), calling("c3", "edit", "{}"), calling("c4", "edit", "{}"))
	env := fmt.Sprintf("1  # settings\n2  API_SECRET=%s\n3  DB_PASSWORD=\"%s\"\n4  URL=postgres://me:%s@db/x\n", p["file"], p["quoted"], p["address"])
	l.came(m, "c1", "read", `{"path":".env"}`, `{"path":".env"}`, env, tool.Need{Permission: tool.Read, Target: ".env"})
	fields, _ := json.Marshal(map[string]any{"command": all, "path": "a.go", "exit": []string{all}, "diff": "+" + strings.ReplaceAll(all, "\n", "\n+")})
	l.came(m, "c2", "shell", string(fields), string(fields), all)
	l.came(m, "c3", "edit", string(fields), string(fields), all)
	secretly, _ := json.Marshal(map[string]any{"path": "conf/.env", "diff": "-OLD\n+SOMETHING=never shown at all"})
	l.came(m, "c4", "edit", `{"path":"conf/.env"}`, string(secretly), "")
	l.says(session.Assistant, all)
	l.says(session.User, all, session.Part{Kind: session.AttachmentPart, Attachment: &tool.Attachment{Name: all, MediaType: "text/plain", Data: []byte(all)}})
	l.add(session.EndEntry, session.Result{Cause: session.CauseDone, Message: all, Changed: []string{all}})

	d := export.FromLog(l.entries, export.Options{Session: "s", Title: all, Tools: tools{}, Mask: redact.New(p["variable"])})
	for form, text := range forms(t, d) {
		bare := strings.ReplaceAll(text, `\`, "")
		for name, value := range p {
			if strings.Contains(text, value) || strings.Contains(bare, value) {
				t.Errorf("%s holds the secret %s", form, name)
			}
		}
		if strings.Contains(text, "never shown") {
			t.Errorf("%s holds the difference of a file of secrets", form)
		}
		if !strings.Contains(bare, redact.Mark) || !strings.Contains(bare, "is not") {
			t.Errorf("%s lost more than the secrets", form)
		}
	}
}
