package cmd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A line is a call's as long as it stands as the call wrote it; what the user changed since is
// theirs, and so is what was there before.
func TestWhyALineIsThere(t *testing.T) {
	u := newUser(t)
	u.file("a.go", "package a\n\nfunc old() {}\n")
	first := u.script("-- 1 --\ncall read: {\"path\":\"a.go\"}\ncall edit: {\"path\":\"a.go\",\"old_string\":\"func old() {}\\n\",\"new_string\":\"func old() {}\\n\\nfunc one() {}\\nfunc two() {}\\n\"}\n-- 2 --\ntext: done\n")
	u.run("-p", "--permission-mode=edits", first, "write one and two").wants(0)
	second := u.script("-- 1 --\ncall write: {\"path\":\"b.go\",\"content\":\"package b\\n\"}\n-- 2 --\ntext: done\n")
	u.run("-p", "--permission-mode=edits", second, "write b").wants(0)
	text := u.read(u.dir + "/a.go")
	u.file("a.go", "// mine\n"+strings.Replace(text, "func two() {}", "func two() { println() }", 1))

	u.run("session", "why", "a.go:1").wants(0, "not by adze")
	u.run("session", "why", "a.go:4").wants(0, "not by adze") // was there before
	line := u.run("session", "why", "a.go:6").wants(0, "edit", "turn 1", "write one and two", "adze sessions show", "--call").out
	u.run("session", "why", "a.go:7").wants(0, "not by adze") // changed since
	u.run("session", "why", "b.go").wants(0, "b.go:1  write", "write b")
	u.run("session", "why", "a.go:99").wants(2, "has 7 lines")
	u.run("session", "why", "none.go").wants(2, "none.go")

	show := strings.Fields(line[strings.Index(line, "adze sessions show"):])
	u.run(show[1:6]...).wants(0, "edited a.go")
	u.run(show[1], show[2], show[3], "--call", "nothing").wants(2, "no outcome")

	var got []string
	for l := range strings.SplitSeq(strings.TrimSpace(u.run("session", "why", "a.go", "--json").wants(0).out), "\n") {
		var s struct {
			From, To int
			By       string
			Wrote    struct{ Turn int }
		}
		if err := json.Unmarshal([]byte(l), &s); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(s.From, "-", s.To, " ", s.By, " ", s.Wrote.Turn))
	}
	if want := "1-4 person 0; 5-6 call 1; 7-7 person 0"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
}

// A file that a command made is the command's until it is changed; then nobody knows which of its
// lines were.
func TestWhyALineOfACommandIsThere(t *testing.T) {
	u := newUser(t)
	u.run("-p", "--permission-mode=yolo", "--sandbox=off", u.script("-- 1 --\ncall bash: {\"command\":\"printf 'a\\\\nb\\\\n' > c.txt\"}\n-- 2 --\ntext: done\n"), "make c").wants(0)
	u.run("session", "why", "c.txt:2").wants(0, "bash", "c.txt", "make c")
	u.file("c.txt", "a\nB\n")
	u.run("session", "why", "c.txt:2").wants(0, "not known: it may be by", "bash")
}

// The output of one call is shown whole, also what the model was spared.
func TestOneCallIsShownWhole(t *testing.T) {
	u := newUser(t)
	u.run("-p", "--permission-mode=yolo", "--sandbox=off", u.script("-- 1 --\ncall bash: {\"command\":\"seq 1 30000\"}\n-- 2 --\ntext: done\n"), "count").wants(0)
	var listed struct{ ID string }
	decode(t, u.run("session", "list", "--json").wants(0).out, &listed)
	var call string
	for l := range strings.SplitSeq(u.run("session", "show", listed.ID, "--json").wants(0).out, "\n") {
		var s struct{ Kind, Call string }
		if json.Unmarshal([]byte(l), &s) == nil && s.Kind == "call" {
			call = s.Call
		}
	}
	out := u.run("session", "show", listed.ID[:15], "--call", call).wants(0).out
	for _, n := range []int{1, 15000, 30000} {
		if !strings.Contains(out, fmt.Sprintf("\n%d\n", n)) && !strings.HasPrefix(out, fmt.Sprintf("%d\n", n)) {
			t.Errorf("%d is missing among %d bytes", n, len(out))
		}
	}
	var whole struct {
		Whole  bool
		Output string
	}
	decode(t, u.run("session", "show", listed.ID, "--call", call, "--json").wants(0).out, &whole)
	if !whole.Whole || strings.Count(whole.Output, "\n") < 29_999 {
		t.Errorf("%v, %d lines", whole.Whole, strings.Count(whole.Output, "\n"))
	}
}

// What an imported session tells was not done here; what was done when somebody went on with it
// was.
func TestWhyOfAnImportedSession(t *testing.T) {
	u := newUser(t)
	steps := func(name string) string {
		return u.script("-- 1 --\ncall write: {\"path\":\"" + name + "\",\"content\":\"one\\n\"}\n-- 2 --\ntext: done\n")
	}
	u.run("-p", "--permission-mode=edits", steps("a.txt"), "write a").wants(0)
	var listed, got struct{ ID string }
	decode(t, u.run("session", "list", "--json").wants(0).out, &listed)
	u.run("session", "export", listed.ID, "-o", u.home+"/s.json").wants(0)
	other := newUser(t)
	decode(t, other.run("session", "import", u.home+"/s.json", "--json").wants(0).out, &got)
	other.file("a.txt", "one\n")
	other.run("session", "why", "a.txt").wants(0, "not by adze")
	other.run("-p", "--permission-mode=edits", "--resume", got.ID, other.script("-- 1 --\ncall write: {\"path\":\"b.txt\",\"content\":\"one\\n\"}\n-- 2 --\ntext: done\n"), "write b").wants(0)
	other.run("session", "why", "b.txt").wants(0, "b.txt:1  write", "turn 2")
}
