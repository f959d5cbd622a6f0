package run_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// day is a user at their terminal; it counts what they press.
type day struct {
	*pane
	steps, keys, letters int
}

// do is a step of the day: a text is typed, keys are pressed, and the screen shows what came of it.
func (d *day) do(what, text, keys string, sees ...string) {
	d.t.Helper()
	d.steps++
	if text != "" {
		d.text(text)
		d.letters += len(text)
	}
	names := strings.Fields(keys)
	if len(names) > 0 {
		d.pane.keys(names...)
		d.keys += len(names)
	}
	d.sees(sees...)
	d.t.Logf("%2d  %-46s %2d keys %3d letters", d.steps, what, len(names), len(text))
}

// asked is a step that answers a question, once its keys act.
func (d *day) asked(what, question, keys string, sees ...string) {
	d.t.Helper()
	d.sees(question)
	d.until("keys answer", func() bool { return !strings.Contains(d.screen(), "keys act in a moment") })
	d.do(what, "", keys, sees...)
}

// TestAWorkingDay is a day in some forty steps, by keys alone: a question, a change of twelve files with
// its commands, the changes and a commit, what is refused, a plan, sessions, and the end. With -v it
// shows the keys of each step.
func TestAWorkingDay(t *testing.T) {
	effort.Needs(t, effort.Short, "plays a working day in a terminal")
	for _, name := range []string{"git", "go"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	u := newUser(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = u.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return string(out)
	}
	u.file("go.mod", "module calc\n\ngo 1.24\n")
	u.file("sum.go", "package calc\n\nfunc ld(n int) int { return n }\n")
	edits := "-- 3 --\n"
	for i := range 12 {
		u.file(fmt.Sprintf("f%d.go", i), fmt.Sprintf("package calc\n\nvar v%d = ld(%d)\n", i, i))
		edits += fmt.Sprintf("call edit: {\"path\":\"f%d.go\",\"old_string\":\"ld(\",\"new_string\":\"load(\"}\n", i)
	}
	git("init", "-q", "-b", "main")
	git("config", "user.name", "ann")
	git("config", "user.email", "ann@example.com")
	git("add", ".")
	git("commit", "-qm", "Begin")
	model := u.script("-- 1 --\ncall read: {\"path\":\"sum.go\"}\n-- 2 --\ntext: It gives back its number.\n" + edits +
		"call edit: {\"path\":\"sum.go\",\"old_string\":\"ld(\",\"new_string\":\"load(\"}\ncall bash: {\"command\":\"go test ./...\"}\n-- 4 --\ncall bash: {\"command\":\"go test -v ./...\"}\n-- 5 --\ncall bash: {\"command\":\"go test -short ./...\"}\n" +
		"-- 6 --\ntext: All are renamed.\n-- 7 draft --\ntext: Rename ld to load\n" +
		"-- 8 --\ntext: It goes\nhold:\n" +
		"-- 9 --\ncall bash: {\"command\":\"rm sum.go\"}\n-- 10 --\ntext: Then it stays.\n" +
		"-- 11 --\ncall bash: {\"command\":\"touch a\"}\n-- 12 --\nexpect bash denied: by git\ntext: By git, then.\n" +
		"-- 13 --\ncall plan: {\"plan\":\"# Two steps\\n\\n1. Look\\n2. Mend\"}\n-- 14 --\ntext: I begin.\n" +
		"-- 15 --\ncall ask: {\"question\":\"Which colour?\",\"choices\":[\"red\",\"blue\"]}\n-- 16 --\nexpect ask: blue\ntext: Blue it is.\n")
	d := &day{pane: u.openPane(140, 40)}

	d.adze(model, "--permission-mode=auto", "--allow=write(work:**)")
	d.do("look at all keys", "", "F1", "find:", "keys")
	d.do("find one", "mode", "", "the next permission mode")
	d.do("close the help", "", "Escape", "Ask, or say what to do")
	d.do("step to the mode ask", "", "BTab BTab", "ask: ")
	d.do("name a file", "what does @su", "", "▸ sum.go")
	d.do("take its name", "", "Tab", "what does @sum.go")
	d.do("ask about it", " do?", "Enter", "It gives back its number.")
	d.rests()

	before := d.keys
	d.do("have twelve files and three commands changed", "rename it everywhere, and test", "Enter", "Run this command?")
	d.asked("allow the tests by a rule", "Run this command?", "a", "All are renamed.")
	if n := d.keys - before - 1; n > 2 {
		t.Errorf("%d keys for twelve edits and three commands", n)
	}
	d.rests()
	d.do("see all of the results", "", "C-o", "All are renamed.")
	d.do("and less", "", "C-o", "All are renamed.")

	d.do("see what differs", "", "F3", "net changes · 13 files", "+var v0 = load(0)")
	d.do("go to the next hunk", "", "Tab", "2 of 13")
	d.do("keep one", "", "a", "3 of 13")
	d.do("stage one", "", "i", "net changes")
	d.until("it is staged", func() bool { return strings.Contains(git("diff", "--cached"), "load(") })
	d.until("the call has ended", func() bool { return !strings.Contains(d.screen(), "●") })
	d.do("have a message drafted", "", "c", "/commit Rename ld to load")
	d.do("edit it, and commit", ", once", "Enter", "Rename ld to load, once")
	d.until("it is committed", func() bool { return strings.Contains(git("log", "-1", "--format=%s"), "Rename ld to load, once") })
	d.rests()
	d.do("look at the context", "/context", "Enter", "context ·", "tools (")
	d.do("run a command from there", "!git status --short", "Enter", " M f9.go")
	d.rests()

	d.do("ask for more", "explain it", "Enter", "It goes", "esc: stop")
	d.do("write on while it answers", "and then?", "Enter", "and then?")
	d.do("stop it", "", "Escape", "stopped by you", "❯ and then?")
	d.rests()
	d.do("clear the prompt", "", "C-u", "Ask, or say what to do")
	d.do("have something removed", "remove sum.go", "Enter", "Run this command?")
	d.asked("refuse it", "Run this command?", "N", "Then it stays.")
	d.rests()
	d.do("have something made", "make a", "Enter", "Run this command?")
	d.asked("refuse it", "Run this command?", "n", "Why not?")
	d.do("and say why", "by git", "Enter", "By git, then.")
	d.rests()

	d.do("want a plan first", "/plan plan it", "Enter", "the model's plan")
	d.asked("accept it", "the model's plan", "Enter", "I begin.")
	d.rests()
	d.do("be asked", "which?", "Enter", "Which colour?")
	d.asked("choose the second", "Which colour?", "2", "Blue it is.")
	d.rests()
	d.do("find an earlier prompt", "", "C-r", "what you wrote before", "plan it")
	d.do("leave it", "", "Escape", "Blue it is.")
	d.do("have the talk summed up", "/compact", "Enter", "would free too little")
	d.rests()
	d.do("see the models", "/model", "Enter", "models")
	d.do("stay with this one", "", "Escape", "Ask, or say what to do")
	d.gone("models ·")
	d.do("begin anew", "/new", "Enter", "esc stops the agent; /undo")
	d.do("look for the last session", "", "F2", "sessions ·", "what does @sum.go")
	d.do("open it again", "", "Enter", "┃")
	d.do("quit", "", "C-d")
	d.restored(0)
	if d.keys > 40 {
		t.Errorf("more than 40 keys")
	}
	t.Logf("%d steps: %d keys, %d letters", d.steps, d.keys, d.letters)
}
