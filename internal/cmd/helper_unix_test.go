//go:build !windows

package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/testkit/lsptest"
)

// withServer configures a language server for .x files, and allows it. The tests' own program lies
// in /tmp, which the sandbox does not show.
func (u *user) withServer(how string) {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	u.configure(fmt.Sprintf(`{"sandbox": "off", "language_servers": {"use": "on", "servers": {"fake": {"command": [%q, %q, %q], "files": {".x": "x"}}}}}`, self, lsptest.Word, how))
	u.file("main.x", "fine\nold one\n")
	u.file("more.x", "old two\n")
	u.run("trust", "allow", "sdk:fake").wants(0)
}

// hooks writes the user's own hooks.
func (u *user) hooks(text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.home, "hooks.json"), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// ends lists the outcomes as "name status code".
func (r ran) ends() []string {
	r.t.Helper()
	var out []string
	for _, l := range r.lines() {
		if l["type"] == "tool_end" {
			code, _ := l["code"].(string)
			out = append(out, strings.TrimSpace(fmt.Sprintf("%v %v %s", l["name"], l["status"], code)))
		}
	}
	return out
}

// until reads lines until one holds the text.
func (s *started) until(part string) {
	s.u.t.Helper()
	for {
		l, err := s.out.ReadString('\n')
		s.seen.WriteString(l)
		if strings.Contains(l, part) {
			return
		}
		if err != nil {
			s.u.t.Fatalf("the run ended before %q: %v\n%s\n%s", part, err, s.seen.String(), s.errs)
		}
	}
}

func (u *user) newest() string {
	u.t.Helper()
	id, _, _ := strings.Cut(u.run("session", "list").wants(0).out, " ")
	return id
}

// delegating is a conversation that gives one task and repeats what came back.
func delegating(kind, steps string) string {
	return `-- 1 --
call task: {"description":"the job","prompt":"Do the job.","agent":"` + kind + `"}
usage: input=10 output=1
-- 2 --
save report: (?s)follow\.\]\n\n(.*)
text: It says: ${report}
usage: input=1
` + steps
}

// holds fails unless a file of the workspace is exactly that.
func (u *user) holds(name, want string) {
	u.t.Helper()
	if got, err := os.ReadFile(filepath.Join(u.dir, name)); err != nil || string(got) != want {
		u.t.Errorf("%s: %v %q, want %q", name, err, got, want)
	}
}
