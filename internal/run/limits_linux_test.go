package run_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLowLimits: under each limit a run either runs its commands, or ends with an exit code and a
// hint. It never says that it is done when no command ran.
func TestLowLimits(t *testing.T) {
	needs(t, "bash")
	limits := []string{"ulimit -v 1500000", "export TMPDIR=/nonexistent", "export XDG_STATE_HOME=/dev/null ADZE_HOME=/dev/null/x"}
	for _, n := range []int{8, 12, 16, 20, 24, 28, 32, 48, 63, 64, 128} {
		limits = append(limits, fmt.Sprintf("ulimit -n %d", n))
	}
	for _, sandbox := range []string{"off", "auto"} {
		for _, limit := range limits {
			t.Run(sandbox+" "+limit, func(t *testing.T) {
				u := newUser(t)
				self := u.command("-p", "--permission-mode", "yolo", "--sandbox", sandbox, u.script(
					"-- 1 --\ncall bash: {\"command\":\"echo ran >>ran\"}\n-- 2 --\ncall bash: {\"command\":\"echo ran >>ran\"}\n-- 3 --\ntext: Done.\n"), "go")
				cmd := exec.Command("bash", append([]string{"-c", limit + `; exec "$0" "$@"`}, self.Args...)...)
				cmd.Dir, cmd.Env = self.Dir, self.Env
				said, _ := cmd.CombinedOutput()
				if strings.Contains(string(said), "ThreadSanitizer failed to allocate") {
					t.Skip("the race detector needs more memory than this limit leaves")
				}
				after, _ := os.ReadFile(filepath.Join(u.dir, "ran"))
				ran := string(after) == "ran\nran\n"
				if code := cmd.ProcessState.ExitCode(); ran != (code == 0) || !ran && !strings.Contains(string(said), "hint: ") {
					t.Errorf("ran: %v, exit code %d:\n%s", ran, code, said)
				}
			})
		}
	}
}
