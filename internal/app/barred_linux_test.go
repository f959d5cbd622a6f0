package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A command that fails because of the sandbox is offered to the person outside, once, with the reason; here nobody is there,
// which the model, and who reads the log, are told with the way out. Where a sandbox is required nobody is asked.
func TestWhatTheSandboxRefusedIsToldHeadless(t *testing.T) {
	for name, c := range map[string]struct{ flags, says, logs []string }{
		"auto": {[]string{"--permission-mode", "auto"}, []string{"whose folder is not there in the sandbox; it was not run outside", "nobody is here to approve it .--sandbox off"},
			[]string{"in the sandbox it could not write ", "nobody is here to approve it (--sandbox off"}},
		"required": {[]string{"--sandbox", "required", "--permission-mode", "yolo"}, []string{"in the sandbox it could not write "}, []string{"in the sandbox it could not write "}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			sandboxed(t, u)
			outside := filepath.Join(t.TempDir(), "outside")
			steps := "-- 1 --\ncall bash: {\"command\": \"touch " + outside + " && touch inside\"}\n-- 2 --\n"
			for _, s := range c.says {
				steps += "expect bash failed: " + s + "\n"
			}
			u.run(append([]string{"-p", u.script(steps + "text: done\n"), "hi"}, c.flags...)...).wants(0, "done")
			for _, path := range []string{outside, filepath.Join(u.dir, "inside")} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s was made", path)
				}
			}
			u.run("audit", "show").wants(0, c.logs...)
		})
	}
}

// One that fails for a reason of its own is offered to nobody, whatever it prints.
func TestAFailureOfItsOwnIsNotOfferedOutside(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	script := u.script("-- 1 --\ncall bash: {\"command\": \"echo 'touch: /etc/x: Read-only file system: Operation not permitted' >&2; exit 1\"}\n-- 2 --\ntext: done\n")
	r := u.run("-p", "--permission-mode", "auto", "--output-format", "stream-json", script, "hi").wants(0, "done")
	out := r.out + u.run("audit", "show").wants(0).out
	if strings.Contains(out, "in the sandbox it could not") || strings.Contains(out, "needs approval") {
		t.Error(out)
	}
}
