package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A password in an address is shown nowhere: not in the question, not in the conversation, and no
// log has it.
func TestAPasswordInAnAddressIsNotShown(t *testing.T) {
	u := newUser(t)
	p := u.openPane(100, 40)
	p.adze(u.script("-- 1 --\ncall bash: {\"command\":\"curl -sS https://me:hunter22@127.0.0.1:1/x\"}\n-- 2 --\ntext: It was denied.\n"))
	p.text("go")
	p.keys("Enter")
	screens := p.sees("curl -sS https://me:[masked]@127.0.0.1:1/x", "n no")
	p.keys("n", "Enter")
	screens += p.sees("It was denied.")
	p.keys("C-o")
	p.rests()
	screens += p.screen()
	p.quit()
	screens += u.run("audit", "show").out + u.run("audit", "show", "--json").out
	if strings.Contains(screens, "hunter22") {
		t.Errorf("the password is shown:\n%s", screens)
	}
	raw, err := os.ReadFile(filepath.Join(u.home, "state", "sessions.db"))
	if log := string(raw) + wal(u); err != nil || !strings.Contains(log, "me:[masked]@") || strings.Contains(log, "hunter22") {
		t.Errorf("the log holds it, or nothing of the call, %v", err)
	}
}
