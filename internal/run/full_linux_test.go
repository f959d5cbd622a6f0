package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// onASmallDisk has a run keep its state on a file system of its own with 1 MiB, which is filled and
// freed when the test says. When the run has ended, what was there is under after.
const onASmallDisk = `mount -t tmpfs -o size=1m tmpfs "$STATE" || exit 77
ack() { timeout 150 sh -c 'echo >"$PIPES/done"'; }
(read -t 150 -r _ <>"$PIPES/fill" && cat /dev/zero >"$STATE/filler" 2>/dev/null; ack
 read -t 150 -r _ <>"$PIPES/free" && rm "$STATE/filler"; ack) 1>&- 2>&- &
"$0" "$@"; code=$?; kill $! 2>/dev/null; cp -r "$STATE" "$AFTER"; exit $code`

// TestADiskThatIsFullForAWhile: what is said while it is full waits and is told of, nothing is
// changed, and when there is room all of it is saved, once.
func TestADiskThatIsFullForAWhile(t *testing.T) {
	needs(t, "unshare")
	u := newUser(t)
	u.configure(`{"undo": {"off": true}}`) // it keeps files on the same disk, and asks when it cannot
	pipes, state, after := t.TempDir(), filepath.Join(u.home, "state"), filepath.Join(u.home, "after")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", state).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %s", out)
	}
	for _, name := range []string{"fill", "free", "done"} {
		if err := unix.Mkfifo(filepath.Join(pipes, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	switchDisk := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(pipes, name), []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(filepath.Join(pipes, "done")); err != nil {
			t.Fatal(err)
		}
	}
	self := u.command("-p", "--input-format=stream-json", "--output-format=stream-json", "--permission-mode", "yolo", u.script(
		"-- 1 --\ntext: answer one\n-- 2 --\ntext: answer two\n-- 3 --\ncall bash: {\"command\":\"echo x >>never\"}\n"+
			"-- 4 --\nexpect prompt: four\ncall bash: {\"command\":\"echo x >>done\"}\n-- 5 --\ntext: answer four\n"))
	cmd := exec.Command("unshare", append([]string{"-rm", "bash", "-c", onASmallDisk}, self.Args...)...)
	cmd.Dir, cmd.Env = self.Dir, append(self.Env, "STATE="+state, "AFTER="+after, "PIPES="+pipes)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{(&started{u: u, cmd: cmd}).begin(), in}
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	p.says(`{"type":"prompt","id":"p1","text":"one"}`)
	p.until(`"prompt":"p1"`)
	switchDisk("fill")
	p.says(`{"type":"prompt","id":"p2","text":"two"}`)
	p.until(`"type":"unsaved","entries":1`)
	p.until(`"prompt":"p2"`)
	p.says(`{"type":"prompt","id":"p3","text":"three"}`)
	p.until(`"prompt":"p3"`)
	switchDisk("free")
	p.says(`{"type":"prompt","id":"p4","text":"four"}`)
	p.until(`"prompt":"p4"`)
	r := p.ends()
	for _, want := range []string{"cannot be saved", "the disk is full", `"cause":"store"`, `{"type":"unsaved","entries":0,"bytes":0}`, "saved again", "answer four"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the output does not say %q:\n%s", want, r.out)
		}
	}
	if _, err := os.Stat(filepath.Join(u.dir, "never")); err == nil {
		t.Error("something was changed while its intent could not be saved")
	}
	if text, err := os.ReadFile(filepath.Join(u.dir, "done")); string(text) != "x\n" {
		t.Errorf("what came when there was room: %q, %v", text, err)
	}
	allIsThereOnce(t, filepath.Join(after, "sessions.db"), "one", "answer one", "two", "answer two", "three", "four", "answer four")
}
