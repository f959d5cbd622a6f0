package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The interface says in one line at its start what waits for consent, shows it whole, and goes on
// with what was allowed.
func TestConsentInATerminal(t *testing.T) {
	u := newUser(t)
	u.file(".adze/tools/lint.json", `{"name": "lint", "description": "Lint.", "parameters": {"type": "object", "properties": {}}, "command": ["touch", "linted.txt"]}`)
	p := u.openPane(100, 40)
	p.adze(u.script("-- 1 --\ncall lint: {}\n-- 2 --\nexpect lint completed: .\ntext: It was linted.\n"), "--allow", "execute(touch **)")
	p.sees("ignored until you allow it: tool:lint (/trust shows and allows them)")
	p.text("/trust")
	p.keys("Enter")
	p.sees("waiting · touch linted.txt", "exactly what it is", "command  touch linted.txt", "sha256")
	p.keys("Enter")
	p.sees("allow tool:lint?")
	p.keys("Down", "Enter")
	p.until("the sitting that follows, in which nothing waits", func() bool {
		now := p.screen() // the sitting before shows its list, then that it keeps the consent
		return strings.Contains(now, "Ask, or say") && !strings.Contains(now, "until you allow it") && !strings.Contains(now, "allow tool:lint?") &&
			!strings.Contains(now, "keeping what")
	})
	p.text("go")
	p.keys("Enter")
	p.sees("It was linted.")
	p.quit()
	if _, err := os.Stat(filepath.Join(u.dir, "linted.txt")); err != nil {
		t.Error("the tool that was allowed did not run")
	}
	u.run("trust", "list").wants(0, "allowed")
}
