package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestNetChangesInATerminal: F3 shows each difference once, also that of a command; a hunk is
// staged, reverted by a call that can be undone, and refused when the file has changed since.
func TestNetChangesInATerminal(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	u := newUser(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		cmd.Dir = u.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return string(out)
	}
	file := filepath.Join(u.dir, "a.txt")
	read := func() string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := "first\n" + strings.Repeat("same\n", 10) + "last\n"
	write(old)
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-qm", "one")
	p := u.openPane(100, 50)
	p.adze(u.script("-- 1 --\ncall edit: {\"path\":\"a.txt\",\"old_string\":\"first\",\"new_string\":\"1st\"}\n-- 2 --\ncall bash: {\"command\":\"sed -i s/1st/FIRST/ a.txt; sed -i s/last/LAST/ a.txt\"}\n-- 3 --\ntext: All is done.\n"), "--permission-mode=yolo")
	p.text("go")
	p.keys("Enter")
	p.sees("All is done.", "F1: keys")
	p.rests()
	p.keys("F3")
	seen := p.sees("net changes · 1 file", "+FIRST", "+LAST", "-first", "since the session")
	if strings.Contains(seen, "+1st") || strings.Count(seen, "+FIRST") != 1 {
		t.Errorf("not net:\n%s", seen)
	}
	p.text("i")
	p.until("the first hunk is in the index", func() bool { return strings.Contains(git("diff", "--cached"), "+FIRST") })
	if staged := git("diff", "--cached"); strings.Contains(staged, "+LAST") {
		t.Errorf("staged: %s", staged)
	}
	idle := func() { p.until("the call has ended", func() bool { return !strings.Contains(p.screen(), "●") }) }
	idle()
	p.sees("+FIRST")
	p.keys("Tab")
	p.text("r")
	p.until("the second hunk is taken back", func() bool {
		if strings.Contains(p.screen(), "error: ") {
			t.Fatal(p.screen())
		}
		return read() == strings.Replace(old, "first", "FIRST", 1)
	})
	p.until("the pane shows that", func() bool { return !strings.Contains(p.screen(), "+LAST") })
	idle()
	write(strings.Replace(old, "first", "mine", 1))
	p.text("r")
	p.sees("is not any more what")
	if read() != strings.Replace(old, "first", "mine", 1) {
		t.Errorf("a file that changed since is %q", read())
	}
	idle()
	p.keys("F3")
	p.until("the pane is closed", func() bool { return !strings.Contains(p.screen(), "net changes") })
	p.keys("C-d")
	p.restored(0)
}
