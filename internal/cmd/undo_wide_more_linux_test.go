package cmd_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAKillInACallThatNamesItsFileIsNobodysChange in a folder of which only named files are kept:
// in the log of the dead process, and after the session was gone on with.
func TestAKillInACallThatNamesItsFileIsNobodysChange(t *testing.T) {
	u := atHome(t)
	before := u.shape()
	begun := filepath.Join(t.TempDir(), "begun")
	u.hooks(`{"hooks": {"after_tool": [{"tools": "write", "command": "echo x > ` + begun + `; while [ ! -e ` + begun + `-never ]; do sleep 0.05; done"}]}}`)
	s := u.start("-p", "--output-format=stream-json", "--permission-mode=yolo", u.script("-- 1 --\ncall write: {\"path\":\"made/new\",\"content\":\"n\"}\n-- 2 --\ntext: done\n"), "work")
	waitFor(t, "the hook", func() bool {
		_, err := os.Stat(begun)
		return err == nil
	})
	s.signal(syscall.SIGKILL)
	u.holds("made/new", "n")
	u.run("undo", "--dry-run").wants(7, "made/new: adze ended while this changed", "--unknown puts back")
	u.hooks(`{}`)
	u.goOn("-- 1 --\ncall write: {\"path\":\"more\",\"content\":\"m\"}\n-- 2 --\ntext: on\n")
	u.run("undo").wants(0, "turn 2", "remove   more")
	u.run("undo", "--dry-run").wants(7, "made/new: adze ended while this changed")
	u.run("undo", "--unknown").wants(0, "turn 1", "remove   made/new")
	u.wantTree("with what nobody knew of undone", before)
}

// TestWhatSubagentsWriteInAHomeIsUndone with the turn that they worked for.
func TestWhatSubagentsWriteInAHomeIsUndone(t *testing.T) {
	u := atHome(t)
	before := u.shape()
	u.run("-p", "--permission-mode=yolo", u.script(delegating("general", "-- general: the job: 1 --\ncall write: {\"path\":\"dir/sub\",\"content\":\"s\"}\n-- general: the job: 2 --\ntext: It is done.\n")), "go").wants(0)
	u.holds("dir/sub", "s")
	worked := u.shape()
	u.run("undo").wants(0, "remove   dir/sub")
	u.wantTree("undone", before)
	u.run("redo").wants(0)
	u.wantTree("redone", worked)
}

// TestARenameInAHomeIsUndoneInAllItsFiles though the call names the others only when it runs.
func TestARenameInAHomeIsUndoneInAllItsFiles(t *testing.T) {
	u := atHome(t)
	u.withServer("push")
	before := u.shape()
	u.work("-- 1 --\ncall diagnostics: {\"path\":\"main.x\"}\ncall diagnostics: {\"path\":\"more.x\"}\n" +
		"-- 2 --\ncall rename: {\"path\":\"main.x\",\"line\":2,\"symbol\":\"old\",\"new_name\":\"young\"}\n" +
		"-- 3 --\nexpect rename completed: (?s)2 places in 2 files\ntext: done\n")
	u.holds("more.x", "young two\n")
	worked := u.shape()
	u.run("undo").wants(0, "restore  main.x", "restore  more.x")
	u.wantTree("undone", before)
	u.run("redo").wants(0)
	u.wantTree("redone", worked)
}
