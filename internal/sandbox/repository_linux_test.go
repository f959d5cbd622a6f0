package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox"
)

func each(t *testing.T, run func(t *testing.T, b *bench)) {
	for _, means := range withMeans(sandbox.Namespaces) {
		t.Run(string(means), func(t *testing.T) {
			run(t, newBench(t, means))
		})
	}
}

const identity = "git config --global protocol.file.allow always; git config --global init.defaultBranch main; "

func TestARepositoryThatIsWorkedIn(t *testing.T) {
	need(t, "git")
	each(t, func(t *testing.T, b *bench) {
		b.host(identity + "git init -q . && git commit -q --allow-empty -m first")
		for _, script := range []string{
			"echo a > a && git add a && git commit -q -m a && git log --oneline | wc -l",
			"git checkout -q -b other && git mv a b && git commit -q -m b && git checkout -q main && git merge -q other && git gc -q",
			"git stash list; git tag t; git status --porcelain",
			"git clone -q --no-hardlinks . copy && test -d copy/.git && git -C copy log --oneline",
			"git worktree add -q linked && git -C linked commit -q --allow-empty -m linked && git -C linked status --porcelain && git log --oneline linked --",
		} {
			if r := b.apart(script); r.Err() != nil || len(r.Messages)+len(r.Denied) > 0 {
				t.Errorf("%s: %v: %s %v", script, r.Err(), text(r), r.Messages)
			}
		}
		if !b.there("copy/.git/HEAD") {
			t.Error("a copy without anything dangerous was put aside")
		}
	})
}

func (b *bench) there(name string) bool {
	_, err := os.Lstat(filepath.Join(b.work, name))
	return err == nil
}

func TestARepositoryThatLiesElsewhere(t *testing.T) {
	need(t, "git")
	each(t, func(t *testing.T, b *bench) {
		b.host(identity + `cd .. && git init -q main && git -C main commit -q --allow-empty -m first && rmdir work && git -C main worktree add -q ../work`)
		b.box = b.sandbox() // the workspace was made anew
		if r := b.apart(`echo a > a && git add a && git commit -q -m a`); r.Err() != nil || len(r.Messages)+len(r.Denied) > 0 {
			t.Errorf("a linked work tree: %+v", r)
		}
		if r := b.run("git status && git log"); r.Err() != nil {
			t.Errorf("a linked work tree of a job: %s", text(r))
		}
		for _, escape := range []string{"echo x >> ../main/.git/config", "echo x > ../main/.git/hooks/pre-commit", "echo x > ../main/file", "echo x > .git",
			"echo x > ../main/.git/worktrees/*/commondir", "mv ../main/.git/hooks ../main/.git/h"} {
			if r, err := b.try(t.Context(), b.box, escape); err != nil || r.Err() == nil {
				t.Errorf("%s: %v %s", escape, err, text(r))
			}
		}
		b.host(`git init -q ../victim; printf 'gitdir: %s\n' "$(realpath ../victim/.git)" > .git`)
		if r, err := b.try(t.Context(), b.box, "echo x > ../victim/.git/description"); err != nil || r.Err() == nil {
			t.Errorf("a file that names another repository makes it writable: %v %s", err, text(r))
		}
	})
}

func TestARepositoryThatIsASubmodule(t *testing.T) {
	need(t, "git")
	each(t, func(t *testing.T, b *bench) {
		b.host(identity + `git init -q ../lib && git -C ../lib commit -q --allow-empty -m lib && git init -q . && git submodule --quiet add ../lib lib && git commit -q -m lib`)
		if r := b.apart("cd lib && echo a > a && git add a && git commit -q -m a && cd .. && git add lib && git commit -q -m bump"); r.Err() != nil || len(r.Messages) > 0 {
			t.Errorf("%v: %s %v", r.Err(), text(r), r.Messages)
		}
		for _, escape := range []string{"echo x >> .git/modules/lib/config", "echo x > .git/modules/lib/hooks/pre-commit", "mv .git/modules/lib .git/modules/x"} {
			if r := b.run(escape); r.Err() == nil {
				t.Errorf("%s: %s", escape, text(r))
			}
		}
		// The submodule as the workspace itself.
		inner := sandbox.New(sandbox.Options{Workspace: filepath.Join(b.work, "lib"), Home: b.home, State: b.state, Techniques: []sandbox.Technique{sandbox.Namespaces}})
		defer inner.Close()
		if r, err := b.try(t.Context(), inner, "cd lib && git status && ! touch ../x"); err != nil || r.Err() != nil {
			t.Errorf("%v %s", err, text(r))
		}
	})
}

func TestARepositoryThatIsPlantedIsPutAside(t *testing.T) {
	need(t, "git")
	b := newBench(t, sandbox.Namespaces)
	b.host(identity + "git init -q . && mkdir a b c d")
	for script, want := range map[string]string{
		`git init -q a && echo 'exit' > a/.git/hooks/pre-commit && chmod +x a/.git/hooks/pre-commit`: "a/.git would make git run programs or read another repository (hook pre-commit",
		`git init -q b && git -C b config core.fsmonitor ./run`:                                      "setting core.fsmonitor = ./run",
		`git init -q --bare c && git -C c config core.sshCommand ./run`:                              "setting core.sshcommand = ./run",
		`echo "gitdir: $PWD/a/x" > d/.git`:                                                           "d/.git would",
	} {
		r := b.run(script)
		if told := strings.ToLower(strings.Join(r.Messages, "\n")); !strings.Contains(told, want) {
			t.Errorf("%s: told %q, want %q; %s", script, told, want, text(r))
		}
	}
	for _, gone := range []string{"a/.git", "b/.git", "c/HEAD", "d/.git"} {
		if b.there(gone) || !b.there(gone+".held-by-adze") {
			t.Errorf("%s was not put aside", gone)
		}
	}
}

// TestARebaseThatRunsCommandsIsTold: git rebase --continue, of the user and outside, runs what
// stands in the list of a rebase that a command began, or planted.
func TestARebaseThatRunsCommandsIsTold(t *testing.T) {
	need(t, "git")
	each(t, func(t *testing.T, b *bench) {
		b.host(identity + "git init -q . && git commit -q --allow-empty -m first && git commit -q --allow-empty -m second")
		if r := b.apart("git status"); len(r.Denied) > 0 {
			t.Errorf("told %q of nothing", r.Denied)
		}
		for script, want := range map[string]string{
			"mkdir -p .git/rebase-merge && printf 'pick 1\nexec touch ../ran\n' > .git/rebase-merge/git-rebase-todo":                                     "exec touch ../ran",
			"mkdir -p .git/rebase-merge && echo evil > .git/rebase-merge/strategy":                                                                       "strategy: evil",
			"git worktree add -q side && mkdir -p .git/worktrees/side/rebase-merge && echo 'x ./run' > .git/worktrees/side/rebase-merge/git-rebase-todo": "x ./run",
		} {
			if r := b.apart(script); !strings.Contains(fmt.Sprint(r.Denied), want) {
				t.Errorf("%s: told %q; %s", script, r.Denied, text(r))
			}
		}
		if r := b.apart("git log"); len(r.Denied) > 0 {
			t.Errorf("told %q once more", r.Denied)
		}
	})
}

// TestARepositoryWithinARepositoryIsPutAside: what a repository holds of submodules and of linked
// work trees is a repository of its own, to which a file anywhere in the workspace may lead. Git
// itself, outside, says whether one still makes it run things.
func TestARepositoryWithinARepositoryIsPutAside(t *testing.T) {
	need(t, "git")
	module := `at=.git/modules/%; mkdir -p % $at/objects $at/refs/heads $at/hooks; echo 'ref: refs/heads/main' > $at/HEAD; printf '[core]\n\tfsmonitor = touch @.ran;false\n' > $at/config; `
	plants := map[string]string{
		"module":   module + `echo "gitdir: ../.git/modules/%" > %/.git`,
		"deep/er":  module + `echo "gitdir: ../../.git/modules/%" > %/.git`,
		"worktree": `git worktree add -q % && mkdir -p cfg/objects cfg/refs/heads && printf '[core]\n\tfsmonitor = touch @.ran;false\n' > cfg/config && echo 'ref: refs/heads/main' > cfg/HEAD && rm -rf cfg/HEAD && echo ../../../cfg > .git/worktrees/%/commondir`,
		"nested":   `git init -q n && at=n/.git/modules/%; mkdir -p n/% $at/objects $at/refs/heads; echo 'ref: refs/heads/main' > $at/HEAD; printf '[core]\n\tfsmonitor = touch @.ran;false\n' > $at/config; echo "gitdir: ../.git/modules/%" > n/%/.git`,
	}
	each(t, func(t *testing.T, b *bench) {
		b.host(identity + "git init -q . && git commit -q --allow-empty -m first")
		look := func(name string) {
			for _, dir := range []string{name, "n/" + name} {
				cmd := exec.Command("git", "status")
				cmd.Dir, cmd.Env = filepath.Join(b.work, dir), b.env()
				_ = cmd.Run() // where nothing stands, or a repository that is broken now, it fails
			}
		}
		ran := func(name string) bool {
			out, _ := exec.Command("find", b.top, "-name", filepath.Base(name)+".ran").Output()
			return len(out) > 0
		}
		for name, plant := range plants {
			r := b.apart(strings.NewReplacer("%", name, "@", filepath.Base(name)).Replace(plant))
			if look(name); ran(name) || len(r.Denied) == 0 {
				t.Errorf("%s: git ran what was planted: %v; told %q; %s", name, ran(name), r.Denied, text(r))
			}
		}
	})
}
