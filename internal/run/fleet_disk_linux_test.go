package run_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// small has a command run where a folder is a disk of its own that is nearly full, and says where
// its processes see it.
func (u *user) small(dir string, cmd *exec.Cmd, options, before string) *exec.Cmd {
	u.t.Helper()
	unshare := func(args ...string) *exec.Cmd {
		return exec.Command("unshare", append([]string{"-Urm", "sh", "-c", `mount -t tmpfs -o ` + options + ` none "$0" || exit 1; ` + before + `; exec "$@"`, dir}, args...)...)
	}
	if out, err := unshare("true").CombinedOutput(); err != nil {
		u.t.Skipf("no disk can be mounted here: %v %s", err, out)
	}
	out := unshare(cmd.Args...)
	out.Dir, out.Env, out.SysProcAttr = cmd.Dir, cmd.Env, cmd.SysProcAttr
	return out
}

// TestAFullDiskOnAWorker: tasks wait while there is no room and are done when there is; one that
// fills the disk ends with a reason that names it, and the worker goes on with others.
func TestAFullDiskOnAWorker(t *testing.T) {
	effort.Needs(t, effort.Short, "a worker looks for room each ten seconds")
	needs(t, "git")
	needs(t, "unshare")
	u := newUser(t).withName()
	server, repo, many, disk := natstest.Start(t, natstest.Options{}), u.repository("r"), filepath.Join(u.home, "many"), t.TempDir()
	// A commit with more files than the disk can have.
	var stream strings.Builder
	stream.WriteString("blob\nmark :1\ndata 1\nx\ncommit refs/heads/main\ncommitter a <a@b> 0 +0000\ndata 4\nmany\n")
	for i := range 14_000 {
		fmt.Fprintf(&stream, "M 100644 :1 %d/f%d\n", i%50, i)
	}
	inGit(t, u.home, "init", "-q", "--bare", "-b", "main", many)
	fill := exec.Command("git", "-C", many, "fast-import", "--quiet")
	fill.Stdin = strings.NewReader(stream.String())
	if out, err := fill.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	on := server.URL()
	u.file("t.jsonl", fmt.Sprintf("{\"id\":\"big\",\"repo\":%q,\"command\":\"true\"}\n{\"id\":\"good\",\"repo\":%q,\"command\":\"echo x >x.txt\"}\n", many, repo))
	w := u.small(disk, u.command("worker", "--on", on, "--name", "w", "--dir", disk, "--sandbox-level", "none", "--allow-mode", "yolo", "--allow-folder", "/"), "size=1g,nr_inodes=12000", `mkdir "$0/other" && cd "$0/other" && seq 3000 | xargs touch; cd "$OLDPWD"`)
	log := filepath.Join(u.home, "w.log")
	to, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	w.Stdout, w.Stderr = to, to
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { w.Process.Kill(); w.Wait() }()
	says := func(words string) {
		t.Helper()
		for end := time.Now().Add(patience); ; {
			if text, _ := os.ReadFile(log); strings.Contains(string(text), words) {
				return
			} else if time.Now().After(end) {
				t.Fatalf("no %q:\n%s", words, text)
			}
		}
	}
	says("more files, and tasks are taken from 10000 on; make room")
	id := strings.TrimSpace(u.run("batch", "t.jsonl", "--on", on, "--attempts", "1", "--detach", "--", "--permission-mode", "yolo").wants(0).out)
	u.run("runs", "list", id, "--on", on).wants(0, "waiting")
	if err := os.RemoveAll(fmt.Sprintf("/proc/%d/root%s/other", w.Process.Pid, disk)); err != nil {
		t.Fatal(err)
	}
	u.run("batch", "t.jsonl", "--on", on, "--attempts", "1", "--", "--permission-mode", "yolo").wants(8)
	all := u.batchResults(filepath.Join(u.dir, "t.batch"))
	if r := all["good"]; len(r) != 1 || !r[0].OK {
		t.Errorf("the one that fits: %+v", r)
	}
	u.run("runs", "list", id, "--on", on, "--json").wants(0, "there is no room left on the disk of w")
	if r := all["big"]; len(r) != 1 || r[0].OK {
		t.Errorf("the one that fills the disk: %+v", r)
	}
	w.Process.Signal(syscall.SIGTERM)
	if err := w.Wait(); err != nil {
		t.Errorf("the worker did not live on: %v", err)
	}
}
