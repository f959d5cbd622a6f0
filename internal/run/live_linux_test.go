package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/live"
	"adze/session"
)

// TestASecondSessionOfACheckoutGetsAWorkTree of its own.
func TestASecondSessionOfACheckoutGetsAWorkTree(t *testing.T) {
	needs(t, "git")
	u := newUser(t).withName()
	inGit(t, u.dir, "init", "-q", "-b", "main")
	inGit(t, u.dir, "commit", "-q", "--allow-empty", "-m", "first")
	asks := "-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n"
	_, one := u.inBackground("--permission-mode=ask", u.script(asks), "one")
	_, two := u.inBackground("--permission-mode=ask", u.script(asks), "two")
	if a, b := one.Hello.Cwd, two.Hello.Cwd; a == b || a != u.dir {
		t.Errorf("they work in %s and %s", a, b)
	}
}

// TestACallReachesNoSession: neither from the sandbox, nor without one, also when the process has
// left its parents.
func TestACallReachesNoSession(t *testing.T) {
	needs(t, "python3")
	u := newUser(t)
	id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"made.txt\",\"content\":\"x\"}\n"), "make it")
	w.until(`{"type":"question"`)
	socket := filepath.Join(u.sockets(), id+".sock")
	u.file("where", socket) // a command that names it is denied
	u.file("c.py", `import os, socket, sys
where = open("where").read()
if sys.argv[1] == "fork":
    if os.fork(): os._exit(0)
    os.setsid()
    if os.fork(): os._exit(0)
    os.execve(sys.executable, [sys.executable, "c.py", "call", sys.argv[2]], {})
try:
    s = socket.socket(socket.AF_UNIX); s.connect(where)
    said = s.makefile().readline()
except OSError as e:
    said = "no way: " + e.strerror
open(sys.argv[2], "w").write(said); os.rename(sys.argv[2], sys.argv[2] + ".txt")
`)
	for name, box := range map[string]string{"free": "off", "boxed": "required"} {
		for _, how := range []string{"call", "fork"} {
			out := name + "-" + how
			command := fmt.Sprintf("env -u ADZE python3 c.py %s %s; for i in $(seq 100); do test -e %[2]s.txt && break; sleep 0.05; done", how, out)
			args, _ := json.Marshal(map[string]string{"command": command, "description": "reach it"})
			r := u.run("-p", "--permission-mode=yolo", "--sandbox="+box, u.script("-- 1 --\ncall bash: "+string(args)+"\n-- 2 --\ntext: done\n"), "go")
			if r.code != 0 {
				t.Logf("%s: no such sandbox here: %s", name, r.err)
				continue
			}
			got, err := os.ReadFile(filepath.Join(u.dir, out+".txt"))
			if said := string(got); err != nil || !strings.Contains(said, `"type":"refused"`) && !strings.HasPrefix(said, "no way") {
				t.Errorf("%s: it was told %q, %v", out, said, err)
			} else {
				t.Logf("%s: %s", out, said)
			}
		}
	}
	if _, err := live.Dial(context.Background(), u.sockets(), session.ID(id), live.Subscription{}); err != nil {
		t.Errorf("the user is refused, too: %v", err)
	}
}

// TestAHookHearsThatTheUserIsNeeded, and nothing of what is asked.
func TestAHookHearsThatTheUserIsNeeded(t *testing.T) {
	u := newUser(t)
	u.hooks(`{"hooks": {"needs_you": [{"command": "cat > told"}]}}`)
	id, w := u.inBackground("--permission-mode=ask", u.script("-- 1 --\ncall write: {\"path\":\"zebra.txt\",\"content\":\"giraffe\"}\n"), "make the okapi")
	w.until(`{"type":"question"`)
	told := ""
	waitFor(t, "the hook", func() bool {
		raw, err := os.ReadFile(filepath.Join(u.dir, "told"))
		told = string(raw)
		return err == nil && told != ""
	})
	if !strings.Contains(told, id) || strings.Contains(told, "zebra") || strings.Contains(told, "giraffe") || strings.Contains(told, "okapi") {
		t.Errorf("it was told %s", told)
	}
}
