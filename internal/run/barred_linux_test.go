package run_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A command that fails because of the sandbox is offered to the user outside, once, with the
// reason; here nobody is there, which the model, and who reads the log, are told with the way out.
// Where a sandbox is required nobody is asked.
func TestWhatTheSandboxRefusedIsToldHeadless(t *testing.T) {
	for name, c := range map[string]struct{ flags, says, logs []string }{
		"auto": {[]string{"--permission-mode", "auto"}, []string{"whose folder is not there in the sandbox; it was not run outside", "not allowed; add --sandbox off"},
			[]string{"the sandbox refused path ", "not allowed; add --sandbox off"}},
		"required": {[]string{"--sandbox", "required", "--permission-mode", "yolo"}, []string{"in the sandbox it could not write "}, []string{"the sandbox refused path "}},
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

// TestWhatWasRefusedIsListedOfACommandThatSucceeded: a host, a path, a socket and a change that was
// not applied stand in the result, for the model, in the log and in the count of --fail-on-deny.
func TestWhatWasRefusedIsListedOfACommandThatSucceeded(t *testing.T) {
	for _, program := range []string{"curl", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	u := newUser(t)
	sandboxed(t, u)
	outside := t.TempDir()
	socket := filepath.Join(outside, "agent")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	port := u.listens()
	command := strings.NewReplacer("OUT", outside, "SOCKET", socket, "PORT", port).Replace("curl -s https://elsewhere.example/; touch OUT/x; " +
		"python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"SOCKET\")'; curl -s --noproxy '*' http://127.0.0.1:PORT/; mkdir -p sub/.vscode; echo x > sub/.vscode/tasks.json; true")
	args, _ := json.Marshal(map[string]string{"command": command})
	script := u.script("-- 1 --\ncall bash: " + string(args) + "\n-- 2 --\nexpect bash completed: the sandbox did not let it reach elsewhere.example:443\nexpect bash completed: some of its changes are left to the user; dropped: sub/.vscode\ntext: done\n")
	r := u.run("-p", "--output-format", "json", "--sandbox", "required", "--permission-mode", "yolo", "--deny", "network(elsewhere.example)", "--fail-on-deny", script, "hi").wants(7, "the sandbox refused")
	found := map[string]string{}
	for _, d := range r.result()["denied"].([]any) {
		d := d.(map[string]any)
		found[fmt.Sprint(d["kind"], " ", d["name"])] = fmt.Sprint(d["reason"])
	}
	for _, want := range []string{"host elsewhere.example:443", "host tcp://localhost:" + port, "socket " + socket, "path sub/.vscode"} {
		if found[want] == "" {
			t.Errorf("%s is not listed: %v", want, found)
		}
	}
	u.run("audit", "show").wants(0, "the sandbox refused host elsewhere.example:443", "the sandbox refused path sub/.vscode")
}

// A command that fails for a reason of its own is offered to nobody. A message that names a place
// which the sandbox keeps counts as a refusal; the user decides.
func TestAFailureOfItsOwnIsNotOfferedOutside(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	script := u.script("-- 1 --\ncall bash: {\"command\": \"echo 'touch: sub/x: Operation not permitted' >&2; exit 1\"}\n-- 2 --\ntext: done\n")
	r := u.run("-p", "--permission-mode", "auto", "--output-format", "stream-json", script, "hi").wants(0, "done")
	out := r.out + u.run("audit", "show").wants(0).out
	if strings.Contains(out, "in the sandbox it could not") || strings.Contains(out, "needs approval") {
		t.Error(out)
	}
}
