package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnUndoIsShownWhereNothingCanBeWritten has the whole state on a read-only file system, or in a
// folder that may not be written.
func TestAnUndoIsShownWhereNothingCanBeWritten(t *testing.T) {
	u := repository(t)
	u.work("-- 1 --\n" + bash("echo changed > src/deep/c; rm run.sh; echo made > made") + "-- 2 --\ntext: done\n")
	wrecked := u.shape()
	state := filepath.Join(u.home, "state")
	if os.Geteuid() == 0 {
		if out, err := exec.Command("mount", "--bind", state, state).CombinedOutput(); err != nil {
			t.Skipf("root writes everywhere, and nothing can be mounted here: %s", out)
		}
		t.Cleanup(func() { _ = exec.Command("umount", state).Run() })
		if out, err := exec.Command("mount", "-o", "remount,ro,bind", state).CombinedOutput(); err != nil {
			t.Skipf("it cannot be mounted read-only: %s", out)
		}
	} else {
		lock := func(mode string) { _ = exec.Command("chmod", "-R", mode, state).Run() }
		lock("a-w")
		t.Cleanup(func() { lock("u+w") })
	}
	u.run("undo", "--list").wants(0, "1", "3 files", "work")
	u.run("undo", "--dry-run", "--unknown").wants(0, "restore  src/deep/c", "create   run.sh", "remove   made")
	u.run("redo", "--dry-run").wants(2, "nothing to redo")
	if r := u.run("undo"); r.code == 0 || strings.Contains(r.out, "undone") {
		t.Errorf("an undo that cannot be stored: exit %d\n%s", r.code, r.out)
	}
	u.wantTree("after it was only shown", wrecked)
}
