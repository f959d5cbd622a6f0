package run_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"adze/internal/testkit/natstest"
)

// TestAWorkerDoesNotStartBelowItsLevel: without namespaces, as in many containers, it says which
// security context helps; a lower level that is asked for is taken.
func TestAWorkerDoesNotStartBelowItsLevel(t *testing.T) {
	needs(t, "unshare")
	u := newUser(t)
	on := natstest.Start(t, natstest.Options{}).URL()
	within := func(args ...string) *exec.Cmd {
		worker := u.command(append([]string{"worker", "--on", on, "--dir", t.TempDir()}, args...)...)
		cmd := exec.Command("unshare", append([]string{"-Ur", "sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces || exit 99; exec "$@"`, "sh"}, worker.Args...)...)
		cmd.Dir, cmd.Env = worker.Dir, worker.Env
		return cmd
	}
	out, err := within().CombinedOutput()
	if strings.Contains(string(out), "unshare:") || strings.Contains(string(out), "max_user_namespaces: ") {
		t.Skipf("no namespace without namespaces can be made here: %s", out)
	}
	if err == nil || !strings.Contains(string(out), "the sandbox reaches the level") || !strings.Contains(string(out), "hostUsers: false") || !strings.Contains(string(out), "--sandbox-level") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := within("--sandbox-level", "nonsense").CombinedOutput(); err == nil || !strings.Contains(string(out), "full, degraded or none") {
		t.Errorf("%v: %s", err, out)
	}
	for _, flags := range [][]string{{"--sandbox-level", "none"}, {"--allow-sandbox-off"}} {
		cmd := within(flags...)
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 7)
		if _, err := said.Read(line); err != nil || string(line) != "worker " {
			t.Errorf("%v: %q, %v", flags, line, err)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
}
