package app_test

import (
	"strings"
	"testing"
)

// What was said in another session is found by typing over the list, and opened; when the person leaves, sessions go as
// they configured, but for what is tagged.
func TestAWordIsFoundInATerminalAndSessionsGoOnLeaving(t *testing.T) {
	u := newUser(t)
	u.talk(map[string]string{"an old matter": "-- 1 --\ntext: it is over\n"})
	u.talk(map[string]string{"the first matter": "-- 1 --\ntext: the wombat is in the cellar\n"})
	u.run("session", "tag", u.lastUsed(), "+keep").wants(0)
	u.talk(map[string]string{"the second matter": "-- 1 --\ntext: nothing of it\n"})
	u.configure(`{"sessions": {"keep": {"count": 1}}}`)
	p := u.openPane(100, 30)
	p.adze(u.script("-- 1 --\ntext: so\n"))
	p.keys("F5")
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
