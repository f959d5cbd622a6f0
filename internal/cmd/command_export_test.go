package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// worked is a session in which secrets were read, said and written, and a file was changed.
func worked(t *testing.T) (u *user, id string, secrets []string) {
	u = newUser(t)
	secrets = []string{"tulip-orchid-heather", "words of no known shape", "ghp_" + strings.Repeat("a1B2", 9), "xoxb-123456789012-123456789012-" + strings.Repeat("Ab3", 8)}
	u.env = append(u.env, "MY_SERVICE_TOKEN="+secrets[0])
	u.file(".env", "DB_PASSWORD="+secrets[1]+"\n")
	u.file("a.go", "package a\n")
	steps := `-- 1 --
text: I look at <script>alert(1)</script> and ` + secrets[0] + `
call read: {"path":".env"}
call bash: {"command":"echo ` + secrets[3] + `; cat .env; exit 3"}
call edit: {"path":"a.go","old_string":"package a","new_string":"package a // ` + secrets[2] + `"}
call nowhere: {"a":"b"}
-- 2 --
text: the password is ` + secrets[1] + `, and **done**
`
	u.run("-p", "--permission-mode=yolo", "--sandbox=off", u.script(steps), "mend it with "+secrets[2]).wants(0)
	var listed struct{ ID string }
	decode(t, u.run("session", "list", "--json").wants(0).out, &listed)
	return u, listed.ID, secrets
}

// A session is exported in each form without a secret, never over a file that is there, and comes
// back as it was.
func TestSessionsAreExportedAndImported(t *testing.T) {
	u, id, secrets := worked(t)
	for _, format := range []string{"md", "json", "html"} {
		file := filepath.Join(u.dir, "out."+format)
		u.run("session", "export", id[:12], "-o", file).wants(0, "bytes of "+format)
		u.run("session", "export", id, "-o", file).wants(2, "is there already", "--force")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if out := u.run("session", "export", id, "--format="+format).wants(0).out; out != text {
			t.Errorf("%s: what is printed is not what is written", format)
		}
		for _, s := range append(secrets, "<script>alert") {
			if strings.Contains(text, s) && !(s == "<script>alert" && format == "json") {
				t.Errorf("%s holds %s", format, s)
			}
		}
		for _, s := range []string{"mend it with", "a.go", "$ echo", "read", "nowhere", "exit", "done"} {
			if !strings.Contains(text, s) {
				t.Errorf("%s lacks %s", format, s)
			}
		}
	}
	u.run("session", "export", id, "-o", filepath.Join(u.dir, "out.md"), "--force").wants(0)
	u.run("session", "export", id, "--format=pdf").wants(2, "the formats are")
	u.run("session", "export", "1999").wants(2, "no such session")
	u.run("session", "export", id, "-o", filepath.Join(u.dir, "none", "x.md")).wants(2, "could not write")
}

func TestImportedSessionExportsEqual(t *testing.T) {
	u, id, _ := worked(t)
	file := filepath.Join(u.home, "s.json")
	u.run("session", "export", id, "-o", file).wants(0)
	other := newUser(t) // on another machine
	var got struct {
		ID, Title string
		From      string `json:"imported_from"`
	}
	decode(t, other.run("session", "import", file, "--json").wants(0).out, &got)
	if got.From != id || got.ID == id || !strings.HasPrefix(got.Title, "mend it") {
		t.Errorf("%+v", got)
	}
	other.run("sessions", "verify", got.ID).wants(0, "as they were written")
	other.run("audit", "verify", got.ID).wants(0)
	other.run("session", "list").wants(0, "(imported)")
	first, again := exported(t, u, id), exported(t, other, got.ID)
	if again["imported"] == nil {
		t.Error("it is not marked")
	}
	for _, d := range []map[string]any{first, again} {
		delete(d, "session")
		delete(d, "imported")
	}
	a, _ := json.MarshalIndent(first, "", " ")
	b, _ := json.MarshalIndent(again, "", " ")
	if string(a) != string(b) {
		t.Errorf("exported\n%s\nimported and exported again\n%s", a, b)
	}
	// Somebody can go on with it; nothing that was allowed there is allowed here.
	r := other.run("-p", "--resume", got.ID, "--output-format=stream-json", other.script("-- 1 --\ncall edit: {\"path\":\"b.go\",\"old_string\":\"\",\"new_string\":\"x\"}\n-- 2 --\ntext: over\n"), "go on")
	if _, err := os.Stat(filepath.Join(other.dir, "b.go")); err == nil || !strings.Contains(r.out, "denied") {
		t.Errorf("a change was allowed\n%s%s", r.out, r.err)
	}
}

func exported(t *testing.T, u *user, id string) (d map[string]any) {
	t.Helper()
	decode(t, u.run("session", "export", id, "--format", "json").wants(0).out, &d)
	return d
}

func TestRubbishIsNotImported(t *testing.T) {
	u := newUser(t)
	for text, says := range map[string]string{"": "no session that adze exported", "hello": "no session", "{}": "adze_session", "{\n\n\"adze_session\":7,\"session\":\"s\",\"messages\":[]}": "newer adze"} {
		u.run("session", "import", u.file("x.json", text)).wants(2, says, "hint: ")
	}
	u.run("session", "import", "none.json").wants(2, "none.json")
	if out := u.run("session", "list", "--all").wants(0).out; out != "" {
		t.Errorf("something was stored: %s", out)
	}
	r := u.runWith(strings.NewReader(`{"adze_session":1,"session":"s","messages":[]}`), "session", "import", "-").wants(0, "0 messages")
	if words := strings.Fields(r.out); !slices.Contains(words, "imported") {
		t.Errorf("%q", words)
	}
}
