package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestARecordedRunReplaysOffline records a run with real tools, replays it byte for byte in an
// equal workspace, and sees it name the step in a changed one.
func TestARecordedRunReplaysOffline(t *testing.T) {
	u := newUser(t)
	u.file("a.txt", "one\n")
	file := filepath.Join(u.home, "run.json")
	steps := "-- 1 --\ntext: I read it.\ncall read: {\"path\":\"a.txt\"}\n-- 2 --\ncall edit: {\"path\":\"a.txt\",\"old_string\":\"one\",\"new_string\":\"two\"}\n-- 3 --\ntext: Changed.\n"
	args := []string{"-p", "--permission-mode", "edits", "--output-format", "stream-json"}
	first := u.run(append(args, u.script(steps), "--record", file, "change it")...).wants(0)
	u.run(append(args, u.script(steps), "--record", file, "again")...).wants(2, "the file exists")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("recording: %v, %v", info, err)
	}
	u.file("a.txt", "one\n")
	second := u.run(append(args, "--replay", file, "change it")...).wants(0)
	if got, want := models(first), models(second); got != want {
		t.Errorf("what the model said differs:\n%s\n%s", got, want)
	}
	if text, _ := os.ReadFile(filepath.Join(u.dir, "a.txt")); string(text) != "two\n" {
		t.Errorf("the replayed run left %q: its tools did not really run", text)
	}
	u.file("a.txt", "other\n")
	changed := u.run(append(args, "--replay", file, "change it")...).wants(4)
	message := fmt.Sprint(changed.result()["message"])
	for _, part := range []string{"step 2", "read", "one", "other"} {
		if !strings.Contains(message, part) {
			t.Errorf("%q does not say %q", message, part)
		}
	}
	u.run("-p", "--replay", file, "--model", "openai/m", "hi").wants(2, "replaces the model")
	u.run("-p", "--replay", u.file("bad.json", "{}"), "hi").wants(2, "not a recording")
}

// TestSubagentsAreRecorded replays subagents that ran beside each other.
func TestSubagentsAreRecorded(t *testing.T) {
	u := newUser(t)
	file := filepath.Join(u.home, "run.json")
	var steps strings.Builder
	steps.WriteString("-- 1 --\n")
	for i := range 4 {
		fmt.Fprintf(&steps, "call task: {\"description\":\"job %d\",\"prompt\":\"p\"}\n", i)
	}
	steps.WriteString("-- 2 --\ntext: all\n")
	for i := range 4 {
		fmt.Fprintf(&steps, "-- explore: job %d: 1 --\ncall glob: {\"pattern\":\"%d*\"}\n-- explore: job %d: 2 --\ntext: report %d\n", i, i, i, i)
	}
	first := u.run("-p", "--output-format=stream-json", u.script(steps.String()), "--record", file, "go").wants(0)
	for range 3 {
		second := u.run("-p", "--output-format=stream-json", "--replay", file, "go").wants(0)
		hash := regexp.MustCompile(`"prompt_sha256":"[0-9a-f]+"`) // of outcomes that name the new subagents
		if got, want := hash.ReplaceAllString(models(second), ""), hash.ReplaceAllString(models(first), ""); got != want {
			t.Errorf("what the model said differs:\n%s\n%s", got, want)
		}
		if !strings.Contains(second.out, "job 3 · 2 requests · 1 call") {
			t.Errorf("the subagents did not run: %s", second.out)
		}
	}
	u.file("3.txt", "new\n")
	u.run("-p", "--replay", file, "go").wants(4, "outcome of task differs")
}

// models joins the lines of a stream that come from the model.
func models(r ran) string {
	var out []string
	took := regexp.MustCompile(`,"duration_ns":\d+`) // the one thing that may differ
	for _, l := range strings.Split(r.out, "\n") {
		if strings.HasPrefix(l, `{"type":"text"`) || strings.HasPrefix(l, `{"type":"message"`) {
			out = append(out, took.ReplaceAllString(l, ""))
		}
	}
	return strings.Join(out, "\n")
}
