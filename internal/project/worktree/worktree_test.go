package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"adze/internal/files/git"
	"adze/internal/testkit/effort"
	"adze/internal/text/usage"
)

// bench is a repository named calc, with room beside it.
type bench struct {
	testing.TB
	top, main string
	desk      Manager
}

func newBench(t testing.TB) *bench {
	t.Helper()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{TB: t, top: top, main: filepath.Join(top, "calc")}
	b.desk = Manager{State: filepath.Join(top, "state"), Git: git.Git{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + top}}}
	b.sh(top, "mkdir calc && cd calc && git init -q -b main && mkdir sub && echo a > a && echo b > sub/b && printf '.env\n*.log\n' > .gitignore && git add . && git commit -qm start")
	return b
}

func (b *bench) sh(dir, script string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.top, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (b *bench) make(name string) WorkTree {
	b.Helper()
	m, err := b.desk.Make(b.Context(), b.main, name)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(m.Release)
	return m
}

func (b *bench) tree(name string) Tree {
	b.Helper()
	all, err := b.desk.List(b.Context(), b.main)
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range all {
		if t.Name == name {
			return t
		}
	}
	b.Fatalf("no work tree %s among %+v", name, all)
	return Tree{}
}

func (b *bench) remove(name string, w RemoveOptions) Removal {
	b.Helper()
	r, err := b.desk.Remove(b.Context(), b.main, name, w)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func TestAWorkTreeIsMadeGoneIntoAndRemoved(t *testing.T) {
	b := newBench(t)
	m := b.make("fix-parser")
	if m.Dir != filepath.Join(b.top, "calc-fix-parser") || b.sh(m.Dir, "git branch --show-current && cat a sub/b") != "fix-parser\na\nb" {
		t.Errorf("made %+v", m)
	}
	inside, err := b.desk.Make(t.Context(), filepath.Join(b.main, "sub"), "fix-parser")
	if err != nil || inside.Dir != filepath.Join(m.Dir, "sub") {
		t.Errorf("again: %+v, %v", inside, err)
	}
	nested, err := b.desk.Make(t.Context(), m.Dir, "other")
	if err != nil || nested.Dir != filepath.Join(b.top, "calc-other") {
		t.Fatalf("from a work tree: %+v, %v", nested, err)
	}
	nested.Release()
	if got := b.remove("fix-parser", RemoveOptions{Force: true}); got.Removed || !got.InUse {
		t.Errorf("removed while a session works in it: %+v", got)
	}
	m.Release()
	inside.Release()
	if got := b.remove("fix-parser", RemoveOptions{Dry: true}); got.Removed || got.Reason != "" {
		t.Errorf("a look came to %+v", got)
	}
	if got := b.remove("fix-parser", RemoveOptions{}); !got.Removed {
		t.Errorf("removal came to %+v", got)
	}
	if left := b.sh(b.main, "ls .. ; git branch; git worktree list | wc -l"); strings.Contains(left, "fix-parser") {
		t.Errorf("left over: %s", left)
	}
	if got := b.tree("other"); !got.Mine || got.InUse || len(got.Loses()) > 0 {
		t.Errorf("the other is %+v", got)
	}
}

// What only a work tree has keeps it; with force it is lost, and said.
func TestNothingIsLostWithoutForce(t *testing.T) {
	for name, c := range map[string]struct {
		do   string
		want string // what would be lost; if empty, nothing
	}{
		"nothing":              {"true", ""},
		"a changed file":       {"echo x >> a", "1 file that is not committed"},
		"a staged file":        {"echo x > n && git add n", "1 file that is not committed"},
		"a file nobody knows":  {"mkdir d && echo x > d/n && echo y > d/m", "2 files that are not committed"},
		"a deleted file":       {"rm a", "1 file that is not committed"},
		"a commit":             {"echo x >> a && git commit -qam x", "1 commit that is on no other branch"},
		"two and a file":       {"git commit -q --allow-empty -m x && git commit -q --allow-empty -m y && echo x > n", "1 file that is not committed and 2 commits that are on no other branch"},
		"a merged commit":      {"echo x >> a && git commit -qam x && git -C ../calc merge -q --ff-only it", ""},
		"a tagged commit":      {"git commit -q --allow-empty -m x && git tag kept", ""},
		"a detached commit":    {"git checkout -q --detach && git commit -q --allow-empty -m x", "1 commit that is on no other branch"},
		"another branch":       {"git checkout -q -b third && git commit -q --allow-empty -m x", ""},
		"a branch left behind": {"git commit -q --allow-empty -m x && git checkout -q --detach HEAD~1", "1 commit that is on no other branch"},
		"a rebase":             {"git commit -q --allow-empty -m x; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i HEAD~1 >/dev/null; git tag kept", "rebas"},
		"ignored files":        {"echo x > y.log", ""},
		"a repository inside":  {"git init -q n && cd n && git commit -q --allow-empty -m x", "1 file that is not committed"},
		"an edited copy":       {"echo MORE=2 >> .env", "1 file that is not committed"},
		"a broken .git":        {"echo nonsense > .git", "could not be looked at"},
		"another's .git":       {"git init -q ../x && cp -r ../x/.git ../y && rm .git && mv ../y .git", "another repository"},
	} {
		t.Run(name, func(t *testing.T) {
			if !effort.Is(effort.Short) && !slices.Contains([]string{"a changed file", "a commit", "an edited copy"}, name) {
				t.Skip("each takes a repository")
			}
			b := newBench(t)
			b.sh(b.main, "echo KEY=1 > .env")
			b.desk.Copy = []string{".env"}
			m := b.make("it")
			m.Release()
			b.sh(m.Dir, c.do)
			tree := b.tree("it")
			loses := strings.Join(tree.Loses(), " and ")
			if (loses == "") != (c.want == "") || !strings.Contains(loses, c.want) {
				t.Errorf("would lose %q, want %q: %+v", loses, c.want, tree)
			}
			cleaned, err := b.desk.Clean(t.Context(), b.main, RemoveOptions{})
			if err != nil || len(cleaned) != 1 || cleaned[0].Removed != (c.want == "") {
				t.Fatalf("clean came to %+v, %v", cleaned, err)
			}
			if c.want == "" {
				return
			}
			if _, err := os.Stat(m.Dir); err != nil {
				t.Fatal("it is gone")
			}
			if strings.Contains(name, ".git") {
				return // only by hand
			}
			r := b.remove("it", RemoveOptions{Force: true})
			if !r.Removed || strings.Join(r.Lost, " and ") != loses {
				t.Errorf("force came to %+v", r)
			}
			if strings.Contains(c.want, "commit that") && !strings.Contains(name, "detached") {
				b.sh(b.main, "git branch back "+r.Commit+" && git log -1 back")
			}
		})
	}
}

func TestWhatAWorkTreeIsMadeOf(t *testing.T) {
	b := newBench(t)
	b.sh(b.main, "git branch there && echo KEY=1 > .env && chmod 600 .env && echo x > .env.local && ln -s /etc/passwd .env.link && mkdir -p .adze && echo '{\"deny\":[\"execute(rm **)\"]}' > .adze/config.json")
	m := b.make("there")
	m.Release()
	if said := strings.Join(m.Notices, "\n"); !strings.Contains(said, "was there already") || !strings.Contains(said, "git does not know them: .env, .env.local;") {
		t.Errorf("said %s", said)
	}
	if got := b.sh(m.Dir, "ls -A; cat .adze/config.json"); strings.Contains(got, ".env") || !strings.Contains(got, "deny") {
		t.Errorf("it holds %s", got)
	}
	b.desk.Copy = []string{".env*"}
	m = b.make("second")
	m.Release()
	if got := b.sh(m.Dir, "ls -A .env* && stat -c %a .env 2>/dev/null || stat -f %Lp .env"); got != ".env\n.env.local\n600" {
		t.Errorf("copied %s", got)
	}
	if said := strings.Join(m.Notices, "\n"); !strings.Contains(said, ".env.link was not copied: it is not a regular file") {
		t.Errorf("said %s", said)
	}
	if r := b.remove("there", RemoveOptions{}); !r.Removed || b.sh(b.main, "git branch --list there") == "" {
		t.Errorf("a branch that was there before is gone: %+v", r)
	}
}

// TestABranchOfARemoteIsTracked: git 2.39.5 and 2.55.0 do so for "git worktree add PATH NAME",
// unless two remotes have the branch and none of them is checkout.defaultRemote, or
// branch.autoSetupMerge says otherwise.
func TestABranchOfARemoteIsTracked(t *testing.T) {
	b := newBench(t)
	b.sh(b.main, "git init -q --bare -b main ../up && git remote add origin ../up && git commit -q --allow-empty -m two && git push -q origin HEAD:far HEAD:free HEAD:two HEAD:both && git update-ref refs/remotes/other/two HEAD && git update-ref refs/remotes/other/both HEAD && git reset -q --hard HEAD^")
	made := func(name, want string) {
		t.Helper()
		if got := b.sh(b.make(name).Dir, "git for-each-ref --format='%(upstream:short) %(subject)' refs/heads/"+name); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	made("far", "origin/far two")
	made("two", "start")
	b.sh(b.main, "git config checkout.defaultRemote origin")
	made("both", "origin/both two")
	b.sh(b.main, "git config branch.autoSetupMerge false")
	made("free", "two")
}

func TestNamesThatAreNone(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"", "-x", "../x", "a b", ".git", "a..b", "x/", "/abs", "ü", "a\nb", strings.Repeat("x", 61), "x.lock", "@{-1}", "a~1", "HEAD^", "a//b"} {
		var mistake *usage.Error
		if m, err := b.desk.Make(t.Context(), b.main, name); !errors.As(err, &mistake) {
			t.Errorf("%q: %+v, %v", name, m, err)
		}
	}
	if m := b.make("team/fix"); m.Dir != filepath.Join(b.top, "calc-team-fix") {
		t.Errorf("made %s", m.Dir)
	}
	if _, err := b.desk.Make(t.Context(), b.main, "team-fix"); err == nil {
		t.Error("two names in one place")
	}
	b.sh(b.top, "mkdir calc-taken && echo mine > calc-taken/file")
	if _, err := b.desk.Make(t.Context(), b.main, "taken"); err == nil || b.sh(b.top, "cat calc-taken/file") != "mine" {
		t.Errorf("a folder of the person's: %v", err)
	}
	if _, err := b.desk.Make(t.Context(), b.main, "main"); err == nil {
		t.Error("the branch that is checked out was checked out again")
	}
	if _, err := b.desk.Make(t.Context(), b.top, "x"); err == nil {
		t.Error("made outside of a repository")
	}
	if _, err := b.desk.Remove(t.Context(), b.main, "nothing", RemoveOptions{}); err == nil {
		t.Error("removed nothing")
	}
	b.sh(b.main, "git worktree add -q ../by-hand")
	if _, err := b.desk.Remove(t.Context(), b.main, "by-hand", RemoveOptions{Force: true}); err == nil {
		t.Error("removed what a person made")
	}
	if out, err := b.desk.Clean(t.Context(), b.main, RemoveOptions{Force: true}); err != nil || slices.ContainsFunc(out, func(r Removal) bool { return r.Name == "by-hand" }) {
		t.Errorf("cleaned %+v, %v", out, err)
	}
}

// Hooks, filters and monitors of a repository do not run when a work tree is made, looked at or
// removed.
func TestARepositoryRunsNothing(t *testing.T) {
	b := newBench(t)
	b.sh(b.main, `canary="$HOME/canary"; for h in post-checkout reference-transaction post-index-change pre-commit; do
		printf '#!/bin/sh\ntouch "%s"\n' "$canary" > .git/hooks/$h; chmod +x .git/hooks/$h; done
		git config core.fsmonitor "touch $canary; false"; git config filter.evil.smudge "touch $canary; cat"; git config filter.evil.clean "touch $canary; cat"
		git config filter.evil.required true; echo 'a filter=evil' > .git/info/attributes; git config core.sshCommand "touch $canary"`)
	m := b.make("it")
	m.Release()
	b.tree("it")
	b.remove("it", RemoveOptions{})
	if _, err := os.Stat(filepath.Join(b.top, "canary")); err == nil {
		t.Error("something ran")
	}
}

func TestSparseCheckoutsAndSubmodules(t *testing.T) {
	b := newBench(t)
	b.sh(b.top, "git init -q lib && cd lib && git commit -q --allow-empty -m x && cd ../calc && git -c protocol.file.allow=always submodule --quiet add ../lib lib && git commit -qm lib && git sparse-checkout set --cone sub")
	m := b.make("it")
	m.Release()
	if got := b.sh(m.Dir, "ls; git sparse-checkout list; git status --porcelain"); !strings.Contains(got, "sub") || !strings.Contains(got, "lib") {
		t.Errorf("the work tree holds %s", got)
	}
	if !strings.Contains(strings.Join(m.Notices, "\n"), "git submodule update --init") {
		t.Errorf("said %v", m.Notices)
	}
	if got := b.tree("it"); len(got.Loses()) > 0 {
		t.Errorf("would lose %v", got.Loses())
	}
	b.sh(m.Dir, "git -c protocol.file.allow=always submodule --quiet update --init")
	if got := b.tree("it"); got.Unknown == "" {
		t.Errorf("a submodule that is checked out: %+v", got)
	}
	if r := b.remove("it", RemoveOptions{Force: true}); !r.Removed {
		t.Errorf("removal came to %+v", r)
	}
	if got := b.sh(b.main, "git status --porcelain; git submodule status; git sparse-checkout list"); !strings.Contains(got, "lib (heads") || !strings.Contains(got, "sub") {
		t.Errorf("the main checkout is %s", got)
	}
}

// A crash at any moment of making and removing leaves what the next Make mends and Clean takes
// away.
func TestWhatACrashLeaves(t *testing.T) {
	for name, crash := range map[string]func(b *bench, r *repository, rec Record){
		"before git was asked": func(b *bench, r *repository, rec Record) {},
		"an empty folder":      func(b *bench, r *repository, rec Record) { b.sh(b.top, "mkdir calc-it") },
		"the branch alone":     func(b *bench, r *repository, rec Record) { b.sh(b.main, "git branch it") },
		"half checked out": func(b *bench, r *repository, rec Record) {
			b.sh(b.main, "git worktree add -q --no-checkout -b it ../calc-it && echo initializing > .git/worktrees/calc-it/locked")
		},
		"killed while it is checked out": func(b *bench, r *repository, rec Record) {
			b.sh(b.main, "git worktree add -q --no-checkout -b it ../calc-it && cd ../calc-it && cp ../calc/a a && mkdir sub && : > sub/b && touch ../calc/.git/worktrees/calc-it/index.lock && echo initializing > ../calc/.git/worktrees/calc-it/locked")
		},
		"files are missing": func(b *bench, r *repository, rec Record) {
			b.sh(b.main, "git worktree add -q -b it ../calc-it && rm ../calc-it/a")
		},
		"all but the last note": func(b *bench, r *repository, rec Record) { b.sh(b.main, "git worktree add -q -b it ../calc-it") },
		"the folder is removed": func(b *bench, r *repository, rec Record) {
			b.sh(b.main, "git worktree add -q -b it ../calc-it && rm -r ../calc-it")
		},
		"the branch is left": func(b *bench, r *repository, rec Record) {
			b.sh(b.main, "git worktree add -q -b it ../calc-it && git worktree remove ../calc-it")
		},
	} {
		for _, mend := range []string{"clean", "make"} {
			t.Run(name+", "+mend, func(t *testing.T) {
				if !effort.Is(effort.Short) && (name != "half checked out" && (name != "the folder is removed" || mend == "clean")) {
					t.Skip("each takes a repository")
				}
				b := newBench(t)
				r, err := b.desk.open(t.Context(), b.main)
				if err != nil {
					t.Fatal(err)
				}
				rec := Record{Name: "it", Path: r.place("it"), Branch: "it", Base: b.sh(b.main, "git rev-parse HEAD"), Main: r.main, Common: r.Common, OwnBranch: true}
				if err := errors.Join(os.MkdirAll(r.dir, 0o700), r.write("it", rec)); err != nil {
					t.Fatal(err)
				}
				crash(b, r, rec)
				if mend == "make" {
					m := b.make("it")
					m.Release()
					if got := b.sh(m.Dir, "git status --porcelain; cat a; git branch --show-current"); got != "a\nit" {
						t.Errorf("made %s", got)
					}
				}
				if out, err := b.desk.Clean(t.Context(), b.main, RemoveOptions{}); err != nil || len(out) != 1 || !out[0].Removed {
					t.Fatalf("clean came to %+v, %v", out, err)
				}
				if left := b.sh(b.main, "ls ..; git branch; git worktree list; ls .git/worktrees 2>/dev/null || true"); strings.Contains(left, "it\n") || strings.Contains(left, "calc-it") {
					t.Errorf("left over: %s", left)
				}
			})
		}
	}
}

// A removal that was interrupted is finished, and what somebody did in the folder since is not
// lost.
func TestWhatAnInterruptedRemovalLeaves(t *testing.T) {
	for _, c := range []struct {
		name, since string
		kept        bool
	}{
		{"nothing is removed yet", "true", false},
		{"files are removed", "rm a; rm -r sub", false},
		{"all but the pointer is removed", "rm a; rm -r sub", false},
		{"the pointer is removed", "rm .git a", false},
		{"the folder is removed", "rm -r ../calc-it", false},
		{"only the index is left", "rm -r a sub .git", false},
		{"a file is changed", "echo mine >> a", true},
		{"a file is made", "echo mine > mine", true},
		{"a file is changed and another one removed", "echo mine >> a; rm -r sub", true},
		{"the pointer is removed and a file made", "rm .git; echo mine > mine", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			m := b.make("it")
			m.Release()
			r, err := b.desk.open(t.Context(), b.main)
			if err != nil {
				t.Fatal(err)
			}
			rec, _, err := r.read("it")
			if err == nil {
				rec.Ready = false
				err = r.write("it", rec)
			}
			if err != nil {
				t.Fatal(err)
			}
			b.sh(m.Dir, c.since)
			if tree := b.tree("it"); !tree.Interrupted {
				t.Errorf("it is told as %+v", tree)
			}
			if _, err := b.desk.Make(t.Context(), b.main, "it"); (err != nil) != c.kept {
				t.Errorf("make: %v", err)
			} else if err == nil {
				if got := b.sh(m.Dir, "git status --porcelain; cat a"); got != "a" {
					t.Errorf("made again, it is %q", got)
				}
				return
			}
			out, err := b.desk.Clean(t.Context(), b.main, RemoveOptions{})
			if err != nil || len(out) != 1 || out[0].Removed {
				t.Errorf("clean came to %+v, %v", out, err)
			}
			if got := b.sh(m.Dir, "cat a mine 2>/dev/null || true"); !strings.Contains(got, "mine") {
				t.Errorf("what was changed is lost; there is %q", got)
			}
			if done := b.remove("it", RemoveOptions{Force: true}); !done.Removed {
				t.Errorf("by force it came to %+v", done)
			}
			if left := b.sh(b.main, "ls ..; git branch; git worktree list; ls .git/worktrees 2>/dev/null || true"); strings.Contains(left, "it\n") || strings.Contains(left, "calc-it") {
				t.Errorf("left over: %s", left)
			}
		})
	}
}

// A branch with work on it outlives what happens to the folder of its work tree.
func TestALostFolderKeepsItsBranch(t *testing.T) {
	b := newBench(t)
	m := b.make("it")
	m.Release()
	b.sh(m.Dir, "echo x >> a && git commit -qam work && cd .. && rm -r calc-it")
	if out, err := b.desk.Clean(t.Context(), b.main, RemoveOptions{}); err != nil || out[0].Removed || !out[0].Missing {
		t.Errorf("clean came to %+v, %v", out, err)
	}
	m = b.make("it")
	m.Release()
	if got := b.sh(m.Dir, "git log -1 --format=%s"); got != "work" {
		t.Errorf("made again at %s", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			m, err := b.desk.Make(context.Background(), b.main, fmt.Sprint("same", i%2))
			if err != nil {
				t.Error(err)
				return
			}
			m.Release()
		})
	}
	wg.Wait()
	if n := b.sh(b.main, "git worktree list | wc -l"); strings.TrimSpace(n) != "3" {
		t.Errorf("%s work trees", n)
	}
}

func TestOf(t *testing.T) {
	b := newBench(t)
	m := b.make("it")
	if name, main := Lookup(b.desk.State, filepath.Join(m.Dir, "sub")); name != "it" || main != filepath.Join(b.main, "sub") {
		t.Errorf("%q of %q", name, main)
	}
	for dir := range map[string]bool{b.main: true, b.top: true, m.Dir + "x": true} {
		if name, main := Lookup(b.desk.State, dir); name != "" || main != "" {
			t.Errorf("%s: %q of %q", dir, name, main)
		}
	}
	b.sh(b.top, "rm -r calc-it && git init -q calc-it") // another repository in its place
	if name, main := Lookup(b.desk.State, m.Dir); name != "" || main != "" {
		t.Errorf("an impostor: %q of %q", name, main)
	}
}
