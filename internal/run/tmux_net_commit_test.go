package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNetChangesAreCommitted: the index is committed with a message that the model drafts and
// the user edits; a file with CRLF keeps its ends of lines, a file that is new is removed and one
// that was removed comes back whole; the branch is compared, and the editor opens at the line.
func TestNetChangesAreCommitted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	u := newUser(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "core.autocrlf=false"}, args...)...)
		cmd.Dir = u.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return string(out)
	}
	path := func(name string) string { return filepath.Join(u.dir, name) }
	read := func(name string) string {
		text, err := os.ReadFile(path(name))
		if err != nil {
			return "(" + err.Error() + ")"
		}
		return string(text)
	}
	old := "one\r\ntwo\r\nthree\r\n"
	for name, text := range map[string]string{"ends.txt": old, "gone.txt": "still\nneeded\n"} {
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "ann")
	git("config", "user.email", "ann@example.com")
	git("add", ".")
	git("commit", "-qm", "Begin")
	git("checkout", "-qb", "topic")
	opened := filepath.Join(u.home, "opened")
	editor := u.file("bin/nano", "#!/bin/sh\necho \"$@\" > '"+opened+"'\n")
	if err := os.Chmod(editor, 0o700); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "VISUAL="+editor)
	p := u.openPane(100, 50)
	p.adze(u.script("-- 1 --\ncall read: {\"path\":\"ends.txt\"}\n-- 2 --\ncall edit: {\"path\":\"ends.txt\",\"old_string\":\"two\",\"new_string\":\"2\"}\n"+
		"call bash: {\"command\":\"rm gone.txt; echo fresh > new.txt\"}\n-- 3 --\ntext: All is done.\n"+
		"-- 4 --\nexpect prompt: (?s)Begin.*-two.*\\+2\ntext: Write two as a number\ntext: \ntext: It is shorter\n"), "--permission-mode=yolo")
	p.text("go")
	p.keys("Enter")
	p.sees("All is done.")
	p.rests()
	p.keys("F3")
	p.sees("net changes · 3 files", "gone.txt", "removed", "new.txt", "new", "since the session")
	idle := func() { p.until("the call has ended", func() bool { return !strings.Contains(p.screen(), "●") }) }

	p.text("o")
	p.until("the editor was opened at the line", func() bool { return strings.Contains(fileText(opened), "+2 ") })
	p.sees("since the session")

	p.text("i")
	p.until("the hunk is in the index", func() bool { return git("show", ":ends.txt") == "one\r\n2\r\nthree\r\n" })
	idle()
	p.sees("since the session")
	p.text("c")
	p.sees("/commit Write two as a number", "It is shorter", "commits what is staged")
	p.text(".")
	p.keys("Enter")
	p.until("the commit is made", func() bool {
		return strings.TrimSpace(git("log", "-1", "--format=%B")) == "Write two as a number\n\nIt is shorter."
	})
	if status := git("status", "--porcelain"); !strings.Contains(status, " D gone.txt") || !strings.Contains(status, "?? new.txt") || strings.Contains(status, "ends.txt") {
		t.Errorf("what is not staged was committed, too: %s", status)
	}
	idle()

	p.keys("F3")
	p.sees("net changes · 3 files")
	p.text("ss")
	p.sees("since the branch: main")
	p.text("s")
	p.sees("since the session")
	p.text("r")
	p.until("the file with CRLF is as it was", func() bool { return read("ends.txt") == old })
	idle()
	p.sees("net changes · 2 files")
	p.text("r")
	p.until("the removed file is there again", func() bool { return read("gone.txt") == "still\nneeded\n" })
	idle()
	p.sees("net changes · 1 file")
	p.text("r")
	p.until("the new file is gone", func() bool { _, err := os.Stat(path("new.txt")); return os.IsNotExist(err) })
	idle()
	p.sees("nothing differs")
	p.text("q")
	p.until("the pane is closed", func() bool { return !strings.Contains(p.screen(), "since the session") })
	p.keys("C-d")
	p.restored(0)
}

// fileText is the text of a file; empty, where there is none.
func fileText(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}
