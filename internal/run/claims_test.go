package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// claiming is a model that writes a file, runs nothing and says that tests pass.
func claiming(u *user, name string, more ...string) string {
	return u.script(`-- 1 --
call write: {"path":"` + name + `","content":"package a\n"}
-- 2 --
text: Done. All tests pass, and I updated ` + "`b.go`" + `.
` + strings.Join(more, ""))
}

// What the answer says and the calls do not show is told to the user, in every way of running,
// and kept. The model is not told.
func TestWhatAnAnswerClaimsIsTold(t *testing.T) {
	const tests = "says that tests pass; none ran after the last edit"
	u := newUser(t)
	if err := os.WriteFile(filepath.Join(u.dir, "b.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := u.run("-p", claiming(u, "one.go"), "--permission-mode", "edits", "--output-format", "stream-json", "go").wants(0, `"type":"claim"`, tests)
	claims, _ := r.result()["claims"].([]any)
	if len(claims) != 1 || strings.Count(r.out, `"type":"claim"`) != 1 {
		t.Errorf("the result tells of %v", claims)
	}
	u.run("-p", claiming(u, "two.go"), "--permission-mode", "edits", "--output-format", "json", "go").wants(0, `"claims":[`, tests)
	plain := u.run("-p", claiming(u, "three.go"), "--permission-mode", "edits", "go").wants(0)
	if !strings.Contains(plain.err, "! the answer "+tests) || strings.Contains(plain.out, "says that") {
		t.Errorf("stdout %s\nstderr %s", plain.out, plain.err)
	}
	u.run("session", "evidence").wants(0, "- ✗ All tests pass, and I updated `b.go`: none ran after the last edit\n")
	u.run("session", "evidence", "--json").wants(0, `"evidence":[`, tests)
	record := filepath.Join(u.home, "record")
	u.run("-p", u.script("-- 1 --\ntext: yes\n"), "--continue", "--record", record, "and?").wants(0)
	if sent, err := os.ReadFile(record); err != nil || strings.Contains(string(sent), "says that tests pass") {
		t.Errorf("the model was told, %v", err)
	}
	u.run("audit", "verify").wants(0)
}

// Where the configuration says so the model reads it once, and goes on.
func TestClaimsAreSentWhereThePersonWantsIt(t *testing.T) {
	u := newUser(t)
	u.configure(`{"claims": "send"}`)
	again := "-- 3 --\nexpect prompt: (?s)none ran after the last edit.*correct what you said\ntext: "
	r := u.run("-p", claiming(u, "one.go", again, "I ran no tests.\n"), "--permission-mode", "edits", "--output-format", "json", "go").wants(0)
	if got := r.result(); got["text"] != "I ran no tests." || got["claims"] != nil {
		t.Errorf("result = %v", got)
	}
	r = u.run("-p", claiming(u, "two.go", again, "All tests pass.\n"), "--permission-mode", "edits", "--output-format", "json", "go").wants(0)
	if got := r.result(); got["text"] != "All tests pass." || got["claims"] == nil || got["turns"] != 3.0 {
		t.Errorf("result = %v", got)
	}
	u.configure(`{"claims": "off"}`)
	if r := u.run("-p", claiming(u, "three.go"), "--permission-mode", "edits", "--output-format", "json", "go").wants(0); r.result()["claims"] != nil {
		t.Errorf("result = %v", r.result())
	}
	u.configure(`{"claims": "loud"}`)
	u.run("-p", claiming(u, "three.go"), "go").wants(2)
}
