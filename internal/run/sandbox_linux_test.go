package run_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sandboxed skips where this machine has no full sandbox.
func sandboxed(t *testing.T, u *user) {
	t.Helper()
	if c := u.doctor(0, "--offline")["sandbox"]; c.State != "ok" {
		t.Skipf("this machine has no full sandbox: %s", c.Found)
	}
}

// outside makes a folder that no sandbox changes. Sandboxes have a /tmp of their own.
func outside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "adze-test-*")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// reaches is a command that tries to get out; what it may do comes first.
const reaches = `
-- 1 --
call bash: {"command": "echo in > inside; echo out > OUTSIDE; echo x > .envrc; cat CONFIG > stolen; (true 3<>/dev/tcp/127.0.0.1/PORT) && echo yes > dialled; exit 3"}
-- 2 --
text: done
`

func TestCommandsRunInTheSandbox(t *testing.T) {
	for name, c := range map[string]struct {
		flags   []string
		contain bool
	}{
		"required":  {[]string{"--sandbox", "required", "--permission-mode", "yolo"}, true},
		"mode yolo": {[]string{"--permission-mode", "yolo"}, false},
		"off":       {[]string{"--sandbox", "off", "--permission-mode", "yolo"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			sandboxed(t, u)
			outside := filepath.Join(t.TempDir(), "outside")
			u.configure("{} // known to the person alone\n")
			script := strings.NewReplacer("OUTSIDE", outside, "CONFIG", filepath.Join(u.home, "config.json"), "PORT", u.listens()).Replace(reaches)
			r := u.run(append([]string{"-p", "--output-format", "stream-json", u.script(script), "hi"}, c.flags...)...).wants(0)
			if _, err := os.Stat(filepath.Join(u.dir, "inside")); err != nil {
				t.Error("it could not write in the workspace")
			}
			for _, path := range []string{outside, filepath.Join(u.dir, ".envrc"), filepath.Join(u.dir, "stolen"), filepath.Join(u.dir, "dialled")} {
				if data, err := os.ReadFile(path); (len(data) > 0) == c.contain {
					t.Errorf("%s holds %q, %v", path, data, err)
				}
			}
			if told := strings.Contains(r.out, `"sandbox":{"level":"full","how":"`) && strings.Contains(r.out, `"sandbox":"full (`); told != c.contain {
				t.Errorf("init and the call tell a full sandbox: %v\n%s", told, r.out)
			}
			if told := strings.Contains(u.run("audit", "show").wants(0).out, "sandbox full ("); told != c.contain {
				t.Errorf("the record tells a full sandbox: %v", told)
			}
		})
	}
}

// listens is the port of a server of this machine.
func (u *user) listens() string {
	u.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { l.Close() })
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func TestASandboxThatIsRequiredAndNotThereStopsTheStart(t *testing.T) {
	u := newUser(t)
	u.run("-p", "--sandbox", "mostly", u.script("-- 1 --\ntext: hi\n"), "hi").wants(2, `"mostly"`, "on or off")
}

// What a rule allows runs in the sandbox in mode auto, and outside in the others, where the user
// said so.
func TestModeAutoRunsCommandsInTheSandbox(t *testing.T) {
	for mode, contain := range map[string]bool{"auto": true, "edits": false} {
		u := newUser(t)
		sandboxed(t, u)
		outside := filepath.Join(t.TempDir(), "outside")
		script := "-- 1 --\ncall bash: {\"command\": \"touch inside " + outside + "\"}\n-- 2 --\ntext: done\n"
		r := u.run("-p", "--output-format", "stream-json", "--permission-mode", mode, "--allow", "execute(touch **)", "--allow", "write(abs:/**)", u.script(script), "hi").wants(0)
		if _, err := os.Stat(filepath.Join(u.dir, "inside")); err != nil {
			t.Errorf("%s: it could not write in the workspace: %s", mode, r.out)
		}
		if _, err := os.Stat(outside); (err == nil) == contain {
			t.Errorf("%s: outside %v", mode, err)
		}
		if told := strings.Contains(r.out, `"sandbox":{"level":"full","how":"`); told != contain {
			t.Errorf("%s: init tells a full sandbox: %v", mode, told)
		}
	}
}

// A host that a command in the sandbox wants to reach is asked for as any other place is; here
// nobody answers, which the model reads and the log keeps.
func TestACommandAsksForAHost(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	script := u.script("-- 1 --\ncall bash: {\"command\": \"curl -sS https://refused.example\"}\n-- 2 --\nexpect bash failed: did not let it reach refused.example:443\ntext: done\n")
	u.run("-p", "--sandbox", "required", "--allow", "execute(curl **)", script, "hi").wants(0, "done")
	u.run("audit", "show").wants(0, "needs network https://refused.example", "not allowed; add --allow")
}

// What a command has sent to a host that it was let to stands in the record, in bytes.
func TestTheRecordTellsWhatLeftTheSandbox(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 5000)) }))
	t.Cleanup(server.Close)
	at := strings.TrimPrefix(server.URL, "http://")
	script := u.script(`-- 1 --
call bash: {"command": "curl -sS --noproxy none --proxy $HTTP_PROXY ` + server.URL + ` | wc -c"}
-- 2 --
text: done
`)
	u.run("-p", "--permission-mode", "auto", "--allow", "network("+at+")", script, "hi").wants(0, "done")
	u.run("audit", "show").wants(0, "needs network https://"+at, "carried "+at+" · ", " received · connections 1")
}

// Mode auto runs what the sandbox holds without a question, and nothing else: not without a
// sandbox, not against a deny.
func TestModeAutoRunsWhatTheSandboxHolds(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		ran   bool
		says  string
	}{
		"held":       {nil, true, "bash completed"},
		"no sandbox": {[]string{"--sandbox", "off"}, false, "not allowed; "},
		"a deny":     {[]string{"--deny", "execute(touch **)"}, false, "forbidden by the rule"},
		"an ask":     {[]string{"--ask", "execute(touch **)"}, false, "asked for by a rule"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			sandboxed(t, u)
			outside := filepath.Join(t.TempDir(), "outside")
			script := u.script("-- 1 --\ncall bash: {\"command\": \"x=1; touch made; touch " + outside + " || eval true\"}\n-- 2 --\ntext: done\n")
			u.run(append([]string{"-p", "--permission-mode", "auto", script, "hi"}, c.flags...)...).wants(endOf(!c.ran), "done")
			if _, err := os.Stat(filepath.Join(u.dir, "made")); (err == nil) != c.ran {
				t.Errorf("made: %v", err)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Error("it wrote outside")
			}
			u.run("audit", "show").wants(0, c.says)
		})
	}
	u := newUser(t)
	sandboxed(t, u)
	u.run("permission", "test", "make all", "--permission-mode", "auto").wants(0, "allow: sandbox")
	u.run("permission", "test", "make all", "--permission-mode", "auto", "--sandbox", "off").wants(7, "ask")
}

func TestTheSandboxIsExplained(t *testing.T) {
	newUser(t).run("help", "sandbox").wants(0, "### full\n", "### degraded\n", "### none\n", "## What it does not hold\n")
}

// A hook is held by the sandbox that holds commands.
func TestHooksRunInTheSandbox(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	outside := filepath.Join(t.TempDir(), "outside")
	u.hooks(entry("prompt", "", "echo x > inside; echo x > "+outside+"; exit 0"))
	u.run("-p", "--sandbox", "required", u.script("-- 1 --\ntext: done\n"), "hi").wants(0, "done")
	if _, err := os.Stat(outside); err == nil || !u.has("inside") {
		t.Errorf("the hook wrote outside of the workspace: %v", err)
	}
	u.run("audit", "show").wants(0, "hook  person/prompt/1", "sandbox full, live (")
}

// A command runs after one whose output was shortened, and reads the whole of it.
func TestACommandRunsAfterAShortenedOutput(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	r := u.run("-p", "--permission-mode", "auto", "--output-format", "stream-json",
		u.script("-- 1 --\ncall bash: {\"command\":\"seq 200\"}\n-- 2 --\ncall bash: {\"command\":\"wc -l $(find / -path '*/output/*/call_1_*' 2>/dev/null | head -1) | cut -d' ' -f1\"}\n-- 3 --\ntext: done\n"), "hi").wants(0, "done")
	if !strings.Contains(r.out, "shortened; the whole is in ") || !strings.Contains(r.out, `"output":"200`) {
		t.Errorf("%s", r.out)
	}
}
