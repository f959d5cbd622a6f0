package run_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adze/internal/run"
)

// serverWords are the words of each command that takes a server, besides its flags.
var serverWords = map[string][]string{
	"batch": {"t.jsonl"}, "batch worker": nil, "batch list": nil, "batch show": {"b", "a"}, "batch follow": {"b"}, "batch cancel": {"b"}, "batch workers": nil, "batch delete": {"b"},
	"worker": nil, "runs list": nil, "runs show": {"b", "a"}, "runs follow": {"b"}, "runs cancel": {"b"}, "runs workers": nil, "runs delete": {"b", "--yes"},
}

// TestAVariableThatIsNamedIsObeyed: each variable of a server has an effect in each command that
// takes one, here that a value which cannot be used is refused by its name or text. A command that
// is new is found by its flag, a variable by the documents.
func TestAVariableThatIsNamedIsObeyed(t *testing.T) {
	u := newUser(t)
	u.file("t.jsonl", `{"repo":"r","command":"true"}`+"\n")
	u.file("a.go", "package a\n")
	// bad values, and what is said of them
	bad := map[string][2]string{
		"ADZE_NATS_TOKEN_FILE": {"/nowhere/token", "/nowhere/token"}, "ADZE_NATS_CREDS": {"/nowhere/creds", "/nowhere/creds"}, "ADZE_NATS_CA": {"/nowhere/ca", "/nowhere/ca"},
		"ADZE_NATS_CERT": {"/nowhere/cert", "ADZE_NATS_CERT"}, "ADZE_NATS_USER": {"u.x", "ADZE_NATS_USER"}, "ADZE_NATS_LEASE": {"1ms", "ADZE_NATS_LEASE"},
	}
	// shown elsewhere, or streams: by themselves they are no mistake
	elsewhere := []string{"ADZE_DEAD", "ADZE_HOME", "ADZE_HOOK", "ADZE_NATS_KEY", "ADZE_NATS_PLAINTEXT", "ADZE_PATIENCE", "ADZE_SHELL", "ADZE_TASKS"}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	var documents strings.Builder
	for _, page := range append(pages, "../../README.md") {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		documents.Write(raw)
	}
	for _, name := range regexp.MustCompile(`ADZE_[A-Z_]+`).FindAllString(documents.String(), -1) {
		if _, there := bad[name]; !there && name != "ADZE_NATS" && !slices.Contains(elsewhere, name) {
			t.Errorf("the documents name %s, and no test says what it does", name)
		}
	}
	clean, seen := u.env, 0
	for path, flags := range run.CommandFlags() {
		variable := "ADZE_NATS"
		if !slices.Contains(flags, "on") {
			continue
		}
		words, known := serverWords[path]
		if !known {
			t.Errorf("serverWords does not say how %q is run", path)
			continue
		}
		seen++
		args := append(strings.Fields(path), words...)
		refused := func(value string, more ...string) ran {
			u.env = append(clean[:len(clean):len(clean)], append(more, variable+"="+value)...)
			return u.run(args...)
		}
		if r := refused("nats://user:password@127.0.0.1"); r.code == 0 || !strings.Contains(r.out+r.err, "carries a secret") {
			t.Errorf("%q does not obey %s: exit code %d, %s%s", path, variable, r.code, r.out, r.err)
			continue
		}
		for name, b := range bad {
			if r := refused("nats://127.0.0.1:1", name+"="+b[0]); r.code == 0 || !strings.Contains(r.out+r.err, b[1]) {
				t.Errorf("%q does not obey %s: exit code %d, %s%s", path, name, r.code, r.out, r.err)
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d commands take a server", seen)
	}
}
