package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was said in another session is found by typing over the list, and opened; when the user
// leaves, sessions go as they configured, but for what is tagged.
func TestAWordIsFoundInATerminalAndSessionsGoOnLeaving(t *testing.T) {
	u := newUser(t)
	u.talk(map[string]string{"an old matter": "-- 1 --\ntext: it is over\n"})
	u.talk(map[string]string{"the first matter": "-- 1 --\ntext: the wombat is in the cellar\n"})
	u.run("session", "tag", u.lastUsed(), "+keep").wants(0)
	u.talk(map[string]string{"the second matter": "-- 1 --\ntext: nothing of it\n"})
	u.configure(`{"sessions": {"keep": {"count": 1}}}`)
	p := u.openPane(100, 30)
	p.adze(u.script("-- 1 --\ntext: so\n"))
	p.keys("F2")
	p.sees("the second matter", "the first matter")
	p.text("wombat")
	p.sees("1 found", "“the wombat is in the cellar”", "answer")
	p.keys("Enter")
	p.sees("┃ the first matter", "the wombat is in the cellar", "Ask, or say what to do")
	p.text("/quit")
	p.keys("Enter")
	p.restored(0)
	list := u.run("session", "list").wants(0, "the first matter", "the second matter").out
	if strings.Contains(list, "old matter") {
		t.Errorf("left: %s", list)
	}
}

// A model names the session after its first turn, where one is configured, and nobody waits for it.
func TestAModelNamesTheSession(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: it is slow because of the index\n-- 2 --\ntext: so be it\n")
	namer := filepath.Join(u.home, "namer.txtar")
	if err := os.WriteFile(namer, []byte("# a namer\n-- 1 --\nexpect prompt: it is slow because of the index\ntext: \"Slow search.\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.configure(`{"title_model": "script/` + namer + `"}`)
	p := u.openPane(100, 30)
	p.begin(model, "--plain")
	p.sees("/quit leaves.")
	p.shell("why is the search slow?")
	p.sees("because of the index", "Ready.")
	p.until("the title", func() bool { return strings.Contains(u.run("session", "list").out, "Slow search") })
	p.shell("and now?")
	p.sees("so be it")
	p.shell("/quit")
	p.restored(0)
	if r := u.run("session", "list", "--json").wants(0, `"title":"Slow search"`); strings.Count(r.out, "\n") != 1 {
		t.Errorf("the request for a title is a session of its own: %s", r.out)
	}
	u.run("session", "rename", u.lastUsed(), "mine").wants(0, "mine")
}
