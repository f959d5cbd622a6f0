package cmd_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sh runs a script in the user's folder with the real bash.
func (u *user) sh(script string) {
	u.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = u.dir
	cmd.Env = append(u.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		u.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// shape is what stands in the user's folder: kinds, modes, contents and targets; without git's own
// state.
func (u *user) shape() string {
	u.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return errorOrSkip(err, d)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(content)
		case info.Mode()&fs.ModeSymlink != 0:
			text, _ = os.Readlink(path)
		}
		rel, _ := filepath.Rel(u.dir, path)
		fmt.Fprintf(&b, "%s %v %q\n", rel, info.Mode(), text)
		return nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return b.String()
}

func errorOrSkip(err error, d fs.DirEntry) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}

func (u *user) wantTree(when, want string) {
	u.t.Helper()
	if got := u.shape(); got != want {
		u.t.Fatalf("%s the folder is\n%s\nwant\n%s", when, got, want)
	}
}

// repository is a user in a git repository with changed, untracked and ignored files.
func repository(t *testing.T) *user {
	t.Helper()
	needs(t, "bash")
	needs(t, "git")
	u := newUser(t)
	u.sh(`git init -q -b main; mkdir -p src/deep empty; printf '.env\n' > .gitignore; printf 'package a\n' > src/a.go; printf 'b\r\n' > src/b.txt
printf deep > src/deep/c; printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; ln -s src/a.go link; head -c 3000 /dev/zero > zeros
git add -A; git commit -qm one; printf 'package a // two\n' > src/a.go; git commit -qam two
printf dirty >> src/b.txt; printf untracked > new; printf SECRET=1 > .env; chmod 600 .env`)
	return u
}

const wreck = `git reset -q --hard HEAD~1; git clean -fdxq; rm -r src/deep link; mv zeros src/a.go; chmod 600 run.sh; mkdir -p made/by; echo x > made/by/it`

func (u *user) work(steps string) ran {
	u.t.Helper()
	return u.run("-p", "--permission-mode=yolo", u.script(steps), "work").wants(0)
}

func (u *user) goOn(steps string) ran {
	u.t.Helper()
	return u.run("-p", "--continue", "--permission-mode=yolo", u.script(steps), "go on").wants(0)
}

func TestATurnThatWrecksARepositoryIsUndoneAndRedone(t *testing.T) {
	u := repository(t)
	before := u.shape()
	u.work("-- 1 --\n" + bash(wreck) + "call write: {\"path\":\"written\",\"content\":\"w\"}\n-- 2 --\ntext: done\n")
	wrecked := u.shape()
	u.undo("--dry-run").wants(0, "to undo: turn 1: work", "remove   made/by/it", "create   src/deep/c", "--git puts it back")
	u.wantTree("after the dry run", wrecked)
	u.undo().wants(0, "undone: turn 1: work", "adze undo redo takes this back")
	u.wantTree("undone", before)
	u.undo().wants(2, "nothing to undo", "hint: adze undo --list")
	u.undo("--list").wants(0, "undone")
	u.run("redo").wants(0, "redone: turn 1: work")
	u.wantTree("redone", wrecked)
	u.run("redo").wants(2, "nothing to redo")
	u.undo("--git").wants(0, ".git/refs/heads/main", ".git/index")
	u.wantTree("undone again", before)
	u.sh(`[ "$(git log --format=%s -1)" = two ]; git diff --quiet -- src/a.go run.sh; git fsck 2>&1`)
	u.run("sessions", "verify", u.newest()).wants(0, "as they were written")
	u.run("audit", "verify").wants(0, "as they were written")
	u.goOn("-- 1 --\nexpect note: (?s)The person undid what earlier turns.*Among them: .*src/a.go\ntext: I know.\n")
}

// TestWhatJJKeepsGoesWithGitsSide: beside .git, the files of .jj (jj 0.46) name commits that git
// keeps. Without git's side they stay; and both come back together.
func TestWhatJJKeepsGoesWithGitsSide(t *testing.T) {
	u := repository(t)
	u.sh(`git config user.name a; git config user.email a@b; mkdir -p .jj/working_copy; echo '/*' > .jj/.gitignore; echo one > .jj/working_copy/state
echo 'git commit -qam three; echo two > .jj/working_copy/state; echo m > made' > jj.sh`)
	u.work("-- 1 --\n" + bash("sh jj.sh") + "-- 2 --\ntext: done\n")
	u.undo().wants(0, "remove   made", "--git puts it back")
	u.sh("[ $(cat .jj/working_copy/state) = two ]; [ $(git log --format=%s -1) = three ]")
	u.undo("--git").wants(0, ".jj/working_copy/state", ".git/refs/heads/main")
	u.sh("[ $(cat .jj/working_copy/state) = one ]; [ $(git log --format=%s -1) = two ]")
}

func TestWhatAPersonChangedSinceIsKeptAndNamed(t *testing.T) {
	u := repository(t)
	u.work("-- 1 --\n" + bash("echo 1 > src/b.txt; echo 1 > new; rm run.sh; mkdir made; echo m > made/m") + "-- 2 --\ntext: done\n")
	u.sh("echo mine > new; echo mine > made/mine")
	r := u.undo("--json")
	if r.code != 7 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, part := range []string{`{"path":"new","reason":"it changed since`, `{"path":"made","reason":"it holds`, `{"path":"run.sh","does":"create"}`, `"turn":1`} {
		if !strings.Contains(r.out, part) {
			t.Errorf("%s has no %s", r.out, part)
		}
	}
	for path, want := range map[string]string{"new": "mine\n", "made/mine": "mine\n", "src/b.txt": "b\r\ndirty", "run.sh": "#!/bin/sh\n"} {
		if got, err := os.ReadFile(filepath.Join(u.dir, path)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", path, got, err, want)
		}
	}
	u.run("redo").wants(0)
	if got, _ := os.ReadFile(filepath.Join(u.dir, "src/b.txt")); string(got) != "1\n" {
		t.Errorf("redone, src/b.txt is %q", got)
	}
}

func TestUndoGoesBackTurnByTurnAcrossResumedSessions(t *testing.T) {
	u := repository(t)
	states := []string{u.shape()}
	u.work("-- 1 --\n" + bash("echo 1 >> src/a.go; echo 1 > one") + "-- 2 --\ntext: done\n")
	states = append(states, u.shape())
	u.goOn("-- 1 --\n" + bash("echo 2 >> src/a.go; rm one") + "-- 2 --\ntext: done\n")
	u.goOn("-- 1 --\ntext: nothing\n")
	states = append(states, u.shape())
	u.sh("echo person > theirs")
	u.goOn("-- 1 --\ncall read: {\"path\":\"src/a.go\"}\n-- 2 --\ncall edit: {\"path\":\"src/a.go\",\"old_string\":\"2\\n\",\"new_string\":\"3\\n\"}\n-- 3 --\ntext: done\n")
	theirs := func(state string) string {
		before, after, _ := strings.Cut(state, "zeros ")
		return before + "theirs -rw-r--r-- \"person\\n\"\nzeros " + after
	}
	last := u.shape()
	u.undo("--list", "--json").wants(0, `"turn":2,`, `"paths":["one","src/a.go"]`)
	u.undo().wants(0, "turn 4")
	u.wantTree("after the last turn was undone", theirs(states[2]))
	u.undo().wants(0, "turn 2")
	u.wantTree("after the turn before was undone", theirs(states[1]))
	u.run("redo").wants(0, "turn 2")
	u.run("redo").wants(0, "turn 4")
	u.wantTree("after both were redone", last)
	u.undo("--to", "0").wants(0, "turn 4", "turn 2", "turn 1")
	u.wantTree("before the first turn", theirs(states[0]))
	u.undo("--to", "9").wants(2, "no such turn")
}

func TestWhatSubagentsAndJobsDoIsUndone(t *testing.T) {
	u := repository(t)
	before := u.shape()
	u.run("-p", "--permission-mode=yolo", u.script(delegating("general", "-- general: the job: 1 --\n"+bash("rm -r src; echo s > sub")+"-- general: the job: 2 --\ntext: It is done.\n")), "go").wants(0)
	delegated := u.shape()
	if delegated == before {
		t.Fatal("the subagent did nothing")
	}
	u.undo().wants(0, "create   src/deep/c")
	u.wantTree("after the subagent was undone", before)
	u.run("redo").wants(0)
	u.wantTree("after it was redone", delegated)
	u.undo().wants(0)
	job := `call bash: {"command":"while [ ! -e go ]; do sleep 0.01; done; rm go; echo j > job; rm zeros; echo end > ended","background":true}` + "\n"
	wait := bash("touch go; while [ ! -e ended ]; do sleep 0.01; done")
	u.work("-- 1 --\n" + job + "-- 2 --\n" + wait + "-- 3 --\ntext: done\n")
	if worked := u.shape(); !strings.Contains(worked, "\njob ") {
		t.Fatalf("the job did nothing:\n%s", worked)
	}
	u.undo().wants(0)
	u.wantTree("after the job was undone", before)
	slow := `call bash: {"command":"rm zeros; echo j > job; echo up; sleep 1000","timeout":1}` + "\n"
	for _, mode := range []string{"auto", "yolo"} {
		r := u.run("-p", "--output-format=stream-json", "--permission-mode="+mode, u.script("-- 1 --\n"+slow+"-- 2 --\ntext: done\n"), "go")
		r.wants(0, "so it goes on as job1")
		if worked := u.shape(); !strings.Contains(worked, "\njob ") {
			t.Fatalf("%s: the command that went on did nothing:\n%s\n%s", mode, worked, r.out)
		}
		u.undo().wants(0)
		u.wantTree(mode+": after the command that went on was undone", before)
	}
}
