package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// atHome is a user whose folder is their home, which undo does not cover as a whole.
func atHome(t *testing.T) *user {
	t.Helper()
	needs(t, "bash")
	u := newUser(t)
	u.env = append(u.env, "HOME="+u.dir)
	u.file("notes", "one\n")
	u.file("dir/config", "a = 1\n")
	u.file("other", "other\n")
	return u
}

const homely = "-- 1 --\ncall read: {\"path\":\"notes\"}\ncall write: {\"path\":\"~/made/by/it\",\"content\":\"new\"}\n" +
	"-- 2 --\ncall edit: {\"path\":\"notes\",\"old_string\":\"one\",\"new_string\":\"two\"}\n-- 3 --\n" +
	"call bash: {\"command\":\"echo x > other\"}\n-- 4 --\ncall edit: {\"path\":\"notes\",\"old_string\":\"two\",\"new_string\":\"three\"}\n-- 5 --\ntext: done\n"

// TestWhatFileToolsChangeInAHomeIsUndone: commands are not, which is said once.
func TestWhatFileToolsChangeInAHomeIsUndone(t *testing.T) {
	u := atHome(t)
	before := u.shape()
	r := u.work(homely)
	if n := strings.Count(r.out+r.err, "what commands change in this folder cannot be undone"); n != 1 {
		t.Errorf("it is said %d times: %s", n, r.err)
	}
	u.holds("notes", "three\n")
	worked := u.shape()
	u.run("undo", "--dry-run").wants(0, "restore  notes", "remove   made/by/it")
	u.run("undo").wants(0, "undone: turn 1: work")
	u.holds("notes", "one\n")
	u.holds("other", "x\n")
	u.file("other", "other\n")
	u.wantTree("undone", before)
	u.file("other", "x\n")
	u.run("redo").wants(0, "redone: turn 1: work")
	u.wantTree("redone", worked)
	u.sh("echo mine > notes; echo mine > made/mine")
	u.run("undo").wants(7, "notes: it changed since", "made: it holds what is not undone")
	u.holds("notes", "mine\n")
	u.holds("made/mine", "mine\n")
	if _, err := os.Stat(filepath.Join(u.dir, "made", "by")); err == nil {
		t.Error("made/by is still there")
	}
	if c := u.doctor(0, "--offline")["undo"]; !strings.Contains(c.Found, "only what the file tools change here can be undone") {
		t.Errorf("the doctor says %+v", c)
	}
}

// TestNamedFilesAreUndoneTurnByTurn and where adze keeps its own things in the folder.
func TestNamedFilesAreUndoneTurnByTurn(t *testing.T) {
	u := newUser(t)
	u.dir = t.TempDir()
	u.env = append(u.env, "ADZE_HOME="+filepath.Join(u.dir, "own"))
	u.file("a", "0")
	u.work("-- 1 --\ncall read: {\"path\":\"a\"}\n-- 2 --\ncall edit: {\"path\":\"a\",\"old_string\":\"0\",\"new_string\":\"1\"}\n-- 3 --\ntext: done\n")
	u.goOn("-- 1 --\ncall read: {\"path\":\"a\"}\n-- 2 --\ncall edit: {\"path\":\"a\",\"old_string\":\"1\",\"new_string\":\"2\"}\n-- 3 --\ntext: done\n")
	u.goOn("-- 1 --\ncall write: {\"path\":\"b\",\"content\":\"b\"}\n-- 2 --\ntext: done\n")
	u.run("undo", "--to", "1").wants(0, "turn 3", "turn 2")
	u.holds("a", "1")
	u.run("undo").wants(0, "turn 1")
	u.holds("a", "0")
	u.run("redo").wants(0)
	u.run("redo").wants(0)
	u.holds("a", "2")
	u.holds("b", "b")
}
