package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/osfile/delicate"
	"adze/internal/sandbox/proc"
)

// delicateNames are paths of all rows that a workspace can have, each in a folder of its own where
// it counts anywhere, with what a test says about it. git's own folder is judged in detail by other
// tests.
func delicateNames() map[string]string {
	out := map[string]string{}
	for i, n := range delicate.Names() {
		name := strings.ReplaceAll(n.Path, "*", "x")
		if n.Folder() {
			name += "file"
		}
		switch {
		case n.Location == delicate.Home, strings.HasPrefix(n.Path, ".git/"):
			continue
		case n.Location == delicate.Anywhere:
			name = fmt.Sprintf("r%d/%s", i, name)
		}
		out[name] = n.Program + " runs " + n.Runs
	}
	return out
}

// ordinary are files that every command may write.
var ordinary = []string{"package.json", "a/Makefile", ".gitignore", ".editorconfig", ".github/workflows/ci.yml", "node_modules/x/.npmrc", ".hg/dirstate", ".jj/working_copy/x"}

// plantAll is a script that writes all of these files, and as many as it can.
func plantAll(names map[string]string) string {
	var b strings.Builder
	for name := range names {
		fmt.Fprintf(&b, "mkdir -p '%s'; echo planted > '%s'\n", filepath.Dir(name), name)
	}
	for _, name := range ordinary {
		fmt.Fprintf(&b, "mkdir -p '%s'; echo plain > '%s'\n", filepath.Dir(name), name)
	}
	return "{\n" + b.String() + "} 2>/dev/null; true"
}

// planted reports names that a command has written, and what is missing of the ordinary ones.
func (b *bench) planted(names map[string]string) {
	b.t.Helper()
	for name, why := range names {
		if data, err := os.ReadFile(filepath.Join(b.work, name)); err == nil && strings.Contains(string(data), "planted") {
			b.t.Errorf("%s was written: %s", name, why)
		}
	}
	for _, name := range ordinary {
		if got := b.read(name); got != "plain\n" {
			b.t.Errorf("%s was not written: %s", name, got)
		}
	}
}

func TestDelicateNamesStayInAView(t *testing.T) {
	names := delicateNames()
	b := newViewBench(t)
	r := b.apart(plantAll(names))
	b.planted(names)
	if len(r.Denied)+len(r.Messages) == 0 {
		t.Error("nothing is told")
	}
}

// Where the user is asked, each is shown as a doubt, and so it is after a staged turn.
func TestDelicateNamesAreDoubtsForAPerson(t *testing.T) {
	names := delicateNames()
	doubts := func(t *testing.T, files []proc.ChangedFile) {
		t.Helper()
		doubt := map[string]bool{}
		for _, f := range files {
			doubt[f.Path] = f.AskReason != ""
		}
		for name, why := range names {
			found := false
			for dir := name; dir != "." && !found; dir = filepath.Dir(dir) {
				found = doubt[dir]
			}
			if !found {
				t.Errorf("%s is no doubt: %s", name, why)
			}
		}
		for _, name := range ordinary {
			if doubt[name] {
				t.Errorf("%s is one", name)
			}
		}
	}
	t.Run("command", func(t *testing.T) {
		b := newViewBench(t)
		r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
			Argv: []string{"bash", "--noprofile", "--norc", "-c", plantAll(names)}, Dir: b.work, Env: b.env(), Transaction: true, ReviewChanges: true, Timeout: time.Minute,
		})
		if err != nil || r.Pending == nil {
			t.Fatalf("%v, %+v", err, r)
		}
		doubts(t, r.Pending.Files)
		r.Pending.Apply(nil)
		b.planted(names)
	})
	t.Run("staged", func(t *testing.T) {
		b := newViewBench(t)
		g := b.stage()
		b.apart(plantAll(names))
		doubts(t, b.review(g).Files)
	})
}

// A job works on the files themselves. It cannot change those that are there; those that it made
// are told when it has ended.
func TestDelicateNamesAndJobs(t *testing.T) {
	names := delicateNames()
	live(t, func(t *testing.T, b *bench) {
		j := b.background("echo ready && read x\n" + plantAll(names))
		r := j.end()
		told := 0
		for _, line := range r.Messages {
			if !strings.Contains(line, "other programs act on what is there") {
				continue
			}
			shown, _, _ := strings.Cut(line, " (other programs")
			told += strings.Count(shown, ", ") + 1
			if more := regexp.MustCompile(` and (\d+) more$`).FindStringSubmatch(shown); more != nil {
				n, _ := strconv.Atoi(more[1])
				told += n
			}
		}
		made := 0
		for name := range names {
			if _, err := os.Lstat(filepath.Join(b.work, name)); err == nil {
				made++
			}
		}
		if told != made || made < len(names)*3/4 {
			t.Errorf("%d of %d were made, %d are told: %q", made, len(names), told, r.Messages)
		}
		for name := range names {
			b.write("work/"+name, "as it was\n")
		}
		b.planted(names)
		j = b.background("echo ready && read x\n" + plantAll(names))
		j.end()
		b.planted(names)
	})
}

// In a view no empty folder stands for a name that is not there, so that what removes untracked or
// empty folders works as elsewhere.
func TestNothingStandsForANameInAView(t *testing.T) {
	need(t, "git")
	b := newViewBench(t)
	b.host(identity + "git init -q . && echo a > a && git add a && git commit -qm first && echo u > untracked")
	r := b.apart("ls -A; git clean -fdq; mkdir -p e/f; find . -type d -empty -not -path './.git/*' -delete; ls e; git status --porcelain")
	if r.Code != 0 || !strings.HasPrefix(r.Output.Head, ".git\na\nuntracked\n") || b.there("e") || len(r.Messages) > 0 || b.there("untracked") {
		t.Errorf("%d %q %q %q", r.Code, r.Output.Head, r.Errors.Head, r.Messages)
	}
	b.host("echo u > untracked; mkdir -p d; echo u > d/u")
	if r := b.apart("git stash -uq && git stash list | wc -l"); r.Code != 0 || b.there("d/u") || len(r.Messages)+len(r.Notes)+len(r.Denied) > 0 {
		t.Errorf("git stash -u: %d %q %q %+v", r.Code, r.Output.Head, r.Errors.Head, r.Findings)
	}
}
