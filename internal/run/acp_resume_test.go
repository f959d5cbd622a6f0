package run_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnEditorResumesWithoutAReplay: another adze goes on with the session, tells nothing of what
// was said before, and the model knows it; a session that is not there has one clear answer.
func TestAnEditorResumesWithoutAReplay(t *testing.T) {
	u := newUser(t)
	w := u.wire(u.script("-- 1 --\ntext: first answer\n"))
	id := w.opens(1, u.dir)
	w.says(prompting(2, id, "hello"))
	w.until(`"id":2,"result"`)
	w.in.Close()
	if code := w.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}

	w = u.wire(u.script("-- 1 --\nexpect prompt: more\ntext: second answer\n"))
	resume := `{"jsonrpc":"2.0","id":%d,"method":"session/resume","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`
	w.says(fmt.Sprintf(resume, 1, "nonsense", u.dir))
	w.until(`"id":1,"error"`, "nonsense")
	w.says(fmt.Sprintf(resume, 2, id, u.dir))
	var told strings.Builder
	for _, end := range []string{`"id":2,"result"`, `"id":3,"result"`} {
		for !strings.Contains(told.String(), end) {
			line, err := w.out.ReadString('\n')
			if told.WriteString(line); err != nil || strings.Contains(line, `"error"`) {
				t.Fatalf("%v\n%s", err, told.String())
			}
		}
		if strings.HasPrefix(end, `"id":2`) {
			w.says(prompting(3, id, "more"))
		}
	}
	if all := told.String(); strings.Contains(all, "first answer") || !strings.Contains(all, "second") {
		t.Errorf("told after the resume:\n%s", all)
	}
	w.in.Close()
	if code := w.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := strings.Count(u.run("session", "list", "--all").wants(0).out, "\n"); n != 1 {
		t.Errorf("%d sessions, want one that went on", n)
	}
}
