package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A model with a small window reads a long file: the conversation is summed up, the work goes on,
// and what was said is still there when the session is continued.
func TestASmallWindowIsNoEnd(t *testing.T) {
	u := newUser(t)
	u.configure(`{"models": {"script/*": {"context": 9000}}}`)
	if err := os.WriteFile(filepath.Join(u.dir, "long.txt"), []byte(strings.Repeat("a line of a long file\n", 1200)), 0o600); err != nil {
		t.Fatal(err)
	}
	model := u.script(`-- 1 --
call read: {"path":"long.txt"}
-- 2 the summary --
expect prompt: (?s)^Stop working now.*At most 800 words
text: The file has a line again and again.
-- 3 --
expect prompt: (?s)The file has a line again and again.*what is in (it|long.txt)\?
text: The same line.
`)
	r := u.run("-p", model, "--output-format", "stream-json", "what is in long.txt?").wants(0, `"type":"compact"`, `"tokens_before":`)
	if got := r.result(); got["text"] != "The same line." || got["turns"] != 3.0 {
		t.Errorf("result = %v", got)
	}
	if strings.Contains(r.out, `"delta":"The file`) {
		t.Errorf("the summary was streamed as an answer:\n%s", r.out)
	}
	u.run("audit", "verify").wants(0)
	record := filepath.Join(u.home, "record")
	u.run("-p", u.script("-- 1 --\nexpect prompt: ^and why\\?$\ntext: Nobody knows.\n"), "--continue", "--record", record, "and why?").wants(0)
	sent, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"again and again": true, "The same line.": true, "a line of a long file": false} {
		if strings.Contains(string(sent), text) != want {
			t.Errorf("the continued session sent %q: %v, want %v\n%s", text, !want, want, sent)
		}
	}
}
