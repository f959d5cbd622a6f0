package run_test

import "testing"

// TestACommandOfTheProjectInATerminal: it is completed with its origin, its shell part is asked
// for, and what came of it is sent below what was typed.
func TestACommandOfTheProjectInATerminal(t *testing.T) {
	u, home := homed(t)
	u.file(".claude/commands/status.md", "---\ndescription: Look at the state\nargument-hint: [what]\n---\nState of $0: !`echo it is $0 | tee seen.txt`.")
	home(".claude/commands/mine.md", "---\ndescription: Of my own\n---\nDo it.")
	u.run("trust", "allow", "command:status").wants(0)
	p := u.openPane(100, 24)
	p.adze(u.script("-- 1 --\nexpect prompt: (?s)State of a b: it is a b\\.\ntext: Good.\n"))
	p.text("/")
	p.text("st")
	p.sees("/status [what]", "Look at the state (.claude/commands/status.md)")
	p.keys("C-u")
	p.text("/mi")
	p.sees("/mine", "Of my own (~/.claude/commands/mine.md)")
	p.keys("C-u")
	p.text("/status 'a b'")
	p.keys("Enter")
	p.sees("Run this command?", "echo it is 'a b' | tee seen.txt", "y yes")
	p.keys("y")
	p.sees("┃ /status 'a b'", "State of a b: it is a b.", "Good.")
	p.quit()
}
