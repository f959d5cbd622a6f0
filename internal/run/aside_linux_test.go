package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const changesALot = "printf 'x\\n' >> run.sh; mkdir fresh; echo n > fresh/n; cat fresh/n"

// state is what git says of the workspace.
func state(t *testing.T, u *user) string {
	t.Helper()
	status := exec.Command("git", "diff", "--stat", "HEAD")
	status.Dir = u.dir
	out, err := status.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, _ := filepath.Glob(filepath.Join(u.dir, "*"))
	return string(out) + strings.Join(names, "\n")
}

func TestPlanModeRunsCommandsAndDropsWhatTheyChange(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	before := state(t, u)
	unchanged := func() {
		t.Helper()
		if now := state(t, u); now != before {
			t.Errorf("the workspace was changed, from\n%s\nto\n%s", before, now)
		}
	}
	steps := "-- 1 --\n" + bash(changesALot) + "-- 2 --\nexpect bash completed: plan mode: run aside without network, and all that it changed is dropped: fresh/n, run.sh\n" +
		bash("test ! -e fresh && echo gone again") + "-- 3 --\nexpect bash completed: gone again\ntext: done\n"
	r := u.run("-p", "--permission-mode=plan", "--output-format=json", u.script(steps), "work").wants(0)
	if !strings.Contains(r.out, `"files_changed":[]`) {
		t.Error(r.out)
	}
	unchanged()
	// Without a sandbox the command stays refused, with the reason.
	steps = "-- 1 --\n" + bash(changesALot) + "-- 2 --\nexpect bash denied: the sandbox is switched off\ntext: done\n"
	u.run("-p", "--permission-mode=plan", "--sandbox=off", u.script(steps), "work").wants(7)
	// A deny holds, and what goes on when the call is over cannot be dropped.
	steps = "-- 1 --\n" + bash("touch x") + "call bash: {\"command\":\"./run.sh\",\"background\":true}\n-- 2 --\nexpect bash denied: forbidden by the rule\nexpect bash denied: the permission mode is plan\ntext: done\n"
	u.run("-p", "--permission-mode=plan", "--deny=execute(touch **)", u.script(steps), "work").wants(7)
	unchanged()
}

func TestStagedPatchShowsWhatACommandWouldChange(t *testing.T) {
	u := repository(t)
	sandboxed(t, u)
	before := state(t, u)
	unchanged := func() {
		t.Helper()
		if now := state(t, u); now != before {
			t.Errorf("the workspace was changed, from\n%s\nto\n%s", before, now)
		}
	}
	patch := filepath.Join(t.TempDir(), "changes.patch")
	steps := "-- 1 --\n" + bash(changesALot) + "-- 2 --\nexpect bash completed:\ntext: done\n"
	// The second is the name of the release before.
	for _, flags := range [][]string{{"--permission-mode=auto", "--staged=patch=" + patch}, {"--try-patch=" + patch}} {
		r := u.run(append([]string{"-p", "--output-format=json", u.script(steps), "work"}, flags...)...).wants(0)
		for _, want := range []string{`"files_changed":[]`, `"staged":{"decision":"dropped"`, `"path":"fresh/n","change":"added","added":1,"removed":0,"diff":"--- /dev/null`} {
			if !strings.Contains(r.out, want) {
				t.Errorf("no %s in %s", want, r.out)
			}
		}
		unchanged()
	}
	apply := exec.Command("git", "apply", patch)
	apply.Dir = u.dir
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("git apply: %v\n%s", err, out)
	}
	if data, err := os.ReadFile(filepath.Join(u.dir, "fresh/n")); string(data) != "n\n" {
		t.Errorf("the patch: %q, %v", data, err)
	}
	// git 2.39.5 makes an empty file by "new file mode" alone, which a patch of texts lacks.
	steps = "-- 1 --\n" + bash("touch fresh-and-empty; echo n > n") + "-- 2 --\nexpect bash completed:\ntext: done\n"
	u.run("-p", "--permission-mode=auto", "--staged=patch="+patch, u.script(steps), "work").wants(2)
	if data, _ := os.ReadFile(patch); !strings.Contains(string(data), "not in this patch: fresh-and-empty is added\n") || !strings.Contains(string(data), "+++ b/n") {
		t.Errorf("the patch: %s", data)
	}
	u.run("-p", "--continue", "--staged=take").wants(0)
	if _, err := os.Stat(filepath.Join(u.dir, "fresh-and-empty")); err != nil {
		t.Error(err)
	}
	u.run("--try", "work").wants(2)
}
