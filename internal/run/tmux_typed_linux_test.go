//go:build unix

package run_test

import (
	"strings"
	"testing"
)

// typeAtOnce types all words in one write to the terminal. A word is a key by its name or a text.
func (p *pane) typeAtOnce(words ...string) { p.t.Helper(); p.keys(words...) }

// TestAPromptTypedBehindTake reaches the session here, once: the window that takes it over ends
// meanwhile.
func TestAPromptTypedBehindTake(t *testing.T) {
	u := newUser(t)
	first := u.openPane(100, 30)
	first.adze(u.script("-- 1 --\ntext: answer one\n-- 2 --\ntext: answer wrong\n"))
	first.text("one")
	first.keys("Enter")
	first.sees("answer one", "F1: keys")
	second := u.openPane(100, 30)
	second.adze("--resume", u.newest(), u.script("-- 1 --\ntext: answer two\n-- 2 --\ntext: answer three\n"))
	second.sees("answer one", "/take")
	second.typeAtOnce("/take ", "Enter", "two times two", "Enter", "half a word")
	screen := second.sees("answer two", "half a word", "F1: keys")
	if strings.Count(screen, "two times two") != 1 || strings.Count(screen, "half a word") != 1 {
		t.Errorf("typed once, and shown:\n%s", screen)
	}
	second.keys("C-u")
	second.quit()
	first.sees("nobody has the session any more")
}

// TestKeysTypedBehindTheOverviewAndAnEditor: keys typed at once go where they were meant for.
func TestKeysTypedBehindTheOverviewAndAnEditor(t *testing.T) {
	u := newUser(t)
	u.env = append(u.env, "EDITOR=true", "VISUAL=true")
	p := u.openPane(100, 30)
	p.adze(u.script("-- 1 --\ntext: answer one\n-- 2 --\ntext: answer two\n-- 3 --\ntext: answer three\n-- 4 --\ntext: answer four\n"))
	p.text("one")
	p.keys("Enter")
	p.sees("answer one", "F1: keys")
	p.typeAtOnce("/overview", "Enter", "/", "one", "x")
	p.sees("Sessions", "filter: onex")
	p.typeAtOnce("Escape")
	p.gone("onex")
	p.typeAtOnce("q", "two times two", "Enter")
	p.sees("answer two", "F1: keys")
	p.typeAtOnce("/overview", "Enter", "Right", "three", "Enter")
	p.sees("answer three", "F1: keys")
	p.typeAtOnce("C-g", "four", "Enter")
	p.sees("answer four", "F1: keys")
	p.quit()
}

// TestAnAttachedWindowUndoesAndRunsCommands: the process that has the session does both.
func TestAnAttachedWindowUndoesAndRunsCommands(t *testing.T) {
	u := newUser(t)
	first := u.openPane(100, 30)
	first.adze("--permission-mode=edits", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"some words\\n\"}\n-- 2 --\ntext: All is done.\n"))
	first.text("make it")
	first.keys("Enter")
	first.sees("All is done.", "F1: keys")
	second := u.openPane(100, 30)
	second.adze("attach", u.newest())
	second.sees("All is done.", "/take")
	second.text("!echo from $((40+2))")
	second.keys("Enter")
	first.sees("from 42")
	second.sees("from 42")
	second.keys("F3")
	second.sees("net changes", "made.txt", "some words")
	second.keys("Escape")
	second.gone("net changes")
	second.text("/undo")
	second.keys("Enter")
	second.sees("remove made.txt")
	second.keys("Enter")
	second.until("the file is gone", func() bool { return !u.has("made.txt") })
	second.keys("C-d")
	first.quit()
}
