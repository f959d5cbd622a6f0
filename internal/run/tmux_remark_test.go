package run_test

import "testing"

// A line behind a # goes into the file that speaks for this folder, through the question that any
// write has; the model reads of it, and a # that was meant for it reaches it.
func TestALineIsWrittenDownInATerminal(t *testing.T) {
	u := newUser(t)
	u.file("CLAUDE.md", "# Rules\n\n- be kind\n")
	p := u.openPane(80, 24)
	p.adze(u.script("-- 1 --\nexpect prompt: ^# a heading alone$\ntext: A heading.\n"))
	p.text("#run make check")
	p.keys("Enter")
	p.sees("add this line to", "CLAUDE.md", "your AGENTS.md", "send it")
	p.keys("Escape")
	p.sees("❯ #run make check")
	p.keys("Enter")
	p.sees("add this line to")
	p.keys("Enter")
	p.sees("- run make check", "y yes")
	p.keys("y")
	p.sees("✓ edit", "CLAUDE.md", "+1 −0")
	u.holds("CLAUDE.md", "# Rules\n\n- be kind\n- run make check\n")
	p.rests()
	p.text("# mine")
	p.keys("Enter")
	p.sees("add this line to")
	p.keys("Down", "Enter")
	p.sees("changed: your AGENTS.md")
	u.dir, u.home = u.home, u.dir
	u.holds("AGENTS.md", "# Instructions\n\n- mine\n")
	u.dir, u.home = u.home, u.dir
	p.rests()
	p.text("# a heading alone")
	p.keys("Enter")
	p.sees("add this line to")
	p.keys("Down", "Down", "Enter")
	p.sees("A heading.")
	p.quit()
}
