package cmd_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// halfUndone kills adze undo in the middle: its plan is on the disk and not done. An undo that was
// faster is redone.
func (u *user) halfUndone() {
	u.t.Helper()
	for range 20 {
		s := u.start(undoing()...)
		plans := func() []string {
			found, _ := filepath.Glob(filepath.Join(u.home, "state", "undo", "*", "plan-*"))
			return found
		}
		ended := make(chan struct{})
		go func() { _ = s.cmd.Wait(); close(ended) }()
		waitFor(u.t, "a plan", func() bool {
			select {
			case <-ended:
				return true
			default:
				return len(plans()) > 0
			}
		})
		_ = s.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
		<-ended
		if len(plans()) > 0 {
			return
		}
		u.run("redo").wants(0)
	}
	u.t.Fatal("no undo was killed in the middle")
}

// TestAnUndoThatIsKilledIsFinishedByTheNextAdze and the log says what came of it, so that it can be
// redone and the model is told.
func TestAnUndoThatIsKilledIsFinishedByTheNextAdze(t *testing.T) {
	u := repository(t)
	u.sh("mkdir many; for i in $(seq 300); do echo $i > many/$i; done")
	before := u.shape()
	u.work("-- 1 --\n" + bash("for i in many/*; do echo changed > $i; done") + "-- 2 --\n" + bash("for i in many/1*; do echo again > $i; done; rm -r many/2*; rm -r src") + "-- 3 --\ntext: done\n")
	worked := u.shape()
	u.halfUndone()
	r := u.undo("--list").wants(0, "undone")
	if !strings.Contains(r.err, "an undo that was interrupted is finished") {
		t.Errorf("it is not told: %s", r.err)
	}
	u.wantTree("after the next adze", before)
	u.undo().wants(2, "nothing to undo")
	u.run("sessions", "verify", u.newest()).wants(0, "as they were written")
	u.run("redo").wants(0, "redone: turn 1: work")
	u.wantTree("redone", worked)

	u.halfUndone()
	u.goOn("-- 1 --\nexpect note: (?s)The person undid what earlier turns.*Among them: .*many/\ntext: I know.\n")
	u.wantTree("after the session was gone on with", before)
	u.run("redo").wants(0)
	u.wantTree("redone again", worked)
}
