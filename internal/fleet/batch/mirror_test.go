package batch

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// gitIn runs the git of this machine, as somebody.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.warnAmbiguousRefs=false"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// ready is a batch that can make clones.
func ready(t *testing.T) *Batch {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	b := fake(t, "", 1)
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	return b
}

// counted has a batch run git by a script that writes down how it is called.
func counted(t *testing.T, b *Batch) (calls func() []string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not there")
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$*\" >>%q\nexec %q \"$@\"\n", log, real)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	b.Env = os.Environ()
	return func() (verbs []string) {
		raw, _ := os.ReadFile(log)
		_ = os.Remove(log)
		for line := range strings.Lines(string(raw)) {
			verbs = append(verbs, verb(strings.Fields(line)))
		}
		return verbs
	}
}

// branched is a repository with so many branches, each with a commit of its own.
func branched(t *testing.T, branches int) string {
	t.Helper()
	repo := t.TempDir()
	gitIn(t, repo, "init", "-q", "-b", "main")
	var in strings.Builder
	commit := func(branch, from string) {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\n%sM 644 inline f-%s\ndata %d\n%s\n\n", branch, from, branch, len(branch), branch)
	}
	commit("main", "")
	for i := range branches {
		commit(fmt.Sprint("b", i), "from refs/heads/main\n")
	}
	cmd := exec.Command("git", "-C", repo, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	gitIn(t, repo, "reset", "-q", "--hard")
	return repo
}

func lines(text string) int { return len(slices.Collect(strings.Lines(text))) }

// objects counts those of a repository, wherever they are, and which of them are loose.
func objects(t *testing.T, dir string) (all, loose int) {
	t.Helper()
	loose, err := strconv.Atoi(strings.Fields(gitIn(t, dir, "count-objects"))[0])
	if err != nil {
		t.Fatal(err)
	}
	return lines(gitIn(t, dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")), loose
}

// TestATaskFetchesWhatItNeeds counts refs, objects and processes of a task in a repository with 740
// branches. A worker makes a new batch for each task.
func TestATaskFetchesWhatItNeeds(t *testing.T) {
	b := ready(t)
	repo := branched(t, 740)
	calls := counted(t, b)
	task := Task{ID: "t", Repo: repo}
	begin := func() (verbs []string) {
		t.Helper()
		b.mirrors.starts = nil
		calls()
		base, err := b.checkout(t.Context(), task, "")
		verbs = calls()
		if err != nil || base != gitIn(t, repo, "rev-parse", "main") {
			t.Fatalf("%q, %v", base, err)
		}
		for _, dir := range []string{b.mirrored(repo), b.clone(task)} {
			if n := lines(gitIn(t, dir, "for-each-ref")); n > 3 {
				t.Errorf("%s has %d refs", dir, n)
			}
			if all, loose := objects(t, dir); all != 3 || loose > 0 {
				t.Errorf("%s has %d objects, %d of them loose; the commit has 3", dir, all, loose)
			}
		}
		return verbs
	}
	if verbs := begin(); len(verbs) > 10 {
		t.Errorf("the first task runs %d git: %v", len(verbs), verbs)
	}
	if verbs := begin(); len(verbs) > 5 || slices.Contains(verbs, "fetch") {
		t.Errorf("the next task runs %d git: %v", len(verbs), verbs)
	}
	// What tasks push makes the next one no slower.
	for i := range 50 {
		gitIn(t, repo, "update-ref", fmt.Sprint("refs/heads/pushed/", i), fmt.Sprint("b", i))
	}
	if verbs := begin(); len(verbs) > 5 || slices.Contains(verbs, "fetch") {
		t.Errorf("after pushes a task runs %d git: %v", len(verbs), verbs)
	}
}

// TestAMirrorIsPackedAndLosesNothing: it has few packs however often it fetched, and what was
// forced away stays, as a task that runs may read it.
func TestAMirrorIsPackedAndLosesNothing(t *testing.T) {
	b := ready(t)
	repo := branched(t, 1)
	task := Task{ID: "t", Repo: repo}
	first := ""
	for i := range 3 * tooManyPacks {
		gitIn(t, repo, "commit", "-q", "--amend", "--allow-empty", "-m", fmt.Sprint("amended ", i))
		b.mirrors.starts = nil
		base, err := b.checkout(t.Context(), task, "")
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = base
		}
	}
	packs, _ := filepath.Glob(filepath.Join(b.mirrored(repo), "objects", "pack", "*.pack"))
	if len(packs) > tooManyPacks {
		t.Errorf("%d packs", len(packs))
	}
	gitIn(t, b.mirrored(repo), "cat-file", "-e", first+"^{tree}")
	// A task that was begun there goes on there.
	b.mirrors.starts = nil
	if base, err := b.checkout(t.Context(), task, first); err != nil || base != first {
		t.Errorf("%q, %v", base, err)
	}
}

// TestEachKindOfRef is found at the commit that git itself finds.
func TestEachKindOfRef(t *testing.T) {
	b := ready(t)
	repo := branched(t, 2)
	gitIn(t, repo, "tag", "-a", "-m", "tagged", "v1", "b1")
	gitIn(t, repo, "tag", "both", "b0")
	gitIn(t, repo, "branch", "both", "b1")
	gitIn(t, repo, "branch", "deep/b0", "main")
	gitIn(t, repo, "checkout", "-q", "--detach", "b1")
	gitIn(t, repo, "commit", "-q", "--allow-empty", "-m", "pulled")
	gitIn(t, repo, "update-ref", "refs/pull/7/head", "HEAD")
	pulled := gitIn(t, repo, "rev-parse", "HEAD")
	gitIn(t, repo, "checkout", "-q", "main")
	short := gitIn(t, repo, "rev-parse", "--short=12", "b1")
	for _, c := range []struct{ ref, branch string }{
		{"", "main"}, {"HEAD", "main"}, {"b0", "b0"}, {"refs/heads/b0", "b0"}, {"heads/b0", "b0"}, {"deep/b0", "deep/b0"}, {"v1", ""}, {"refs/pull/7/head", ""}, {pulled, ""}, {short, ""},
		{"b1~1", ""}, {"v1^{commit}", ""}, {"both", ""},
	} {
		want := gitIn(t, repo, "rev-parse", cmp.Or(c.ref, "HEAD")+"^{commit}")
		for _, how := range []string{"cold", "warm"} {
			b.mirrors.starts = nil
			if how == "cold" {
				if err := os.RemoveAll(b.mirrored(repo)); err != nil {
					t.Fatal(err)
				}
			}
			task := Task{ID: "t", Repo: repo, Ref: c.ref}
			base, err := b.checkout(t.Context(), task, "")
			if err != nil || base != want {
				t.Errorf("%s: %q begins at %q, want %q: %v", how, c.ref, base, want, err)
				continue
			}
			if head := gitIn(t, b.clone(task), "rev-parse", "HEAD"); head != want {
				t.Errorf("%s: %q is checked out at %q", how, c.ref, head)
			}
			if on, _ := b.git(t.Context(), b.clone(task), nil, "symbolic-ref", "--quiet", "--short", "HEAD"); on != c.branch {
				t.Errorf("%s: %q is on %q, want %q", how, c.ref, on, c.branch)
			}
			if state := gitIn(t, b.clone(task), "status", "--porcelain"); state != "" {
				t.Errorf("%q: %s", c.ref, state)
			}
		}
	}
	for _, ref := range []string{"v99", "b1~99", strings.Repeat("a", 40), "deep"} {
		if _, err := b.checkout(t.Context(), Task{ID: "t", Repo: repo, Ref: ref}, ""); err == nil || !strings.Contains(err.Error(), "has no \""+ref) {
			t.Errorf("%q: %v", ref, err)
		}
	}
	empty := t.TempDir()
	gitIn(t, empty, "init", "-q")
	if _, err := b.checkout(t.Context(), Task{ID: "t", Repo: empty}, ""); err == nil || !strings.Contains(err.Error(), "has no commit yet") {
		t.Error(err)
	}
}

// TestShallowAndLongNames: a repository without its whole history, and one with the longer names of
// objects, are cloned like others.
func TestShallowAndLongNames(t *testing.T) {
	b := ready(t)
	whole := branched(t, 1)
	gitIn(t, whole, "commit", "-q", "--allow-empty", "-m", "two")
	shallow, long := filepath.Join(t.TempDir(), "s"), t.TempDir()
	gitIn(t, whole, "clone", "-q", "--depth=1", "file://"+whole, shallow)
	gitIn(t, long, "init", "-q", "-b", "main", "--object-format=sha256")
	gitIn(t, long, "commit", "-q", "--allow-empty", "-m", "one")
	for _, repo := range []string{shallow, long} {
		task := Task{ID: "t", Repo: repo}
		base, err := b.checkout(t.Context(), task, "")
		if err != nil || base != gitIn(t, repo, "rev-parse", "HEAD") {
			t.Errorf("%q, %v", base, err)
			continue
		}
		gitIn(t, b.clone(task), "log", "-1")
	}
}

// TestAKilledGitLeavesNoMirrorBehindThatIsOfNoUse: git leaves its locks when it is killed, and
// never takes one away.
func TestAKilledGitLeavesNoMirrorBehindThatIsOfNoUse(t *testing.T) {
	b := ready(t)
	repo := branched(t, 1)
	gitIn(t, repo, "update-ref", "refs/pull/7/head", "b0")
	task := Task{ID: "a", Repo: repo, Ref: "refs/pull/7/head"}
	path := b.mirrored(repo)
	if _, err := b.checkout(t.Context(), Task{ID: "first", Repo: repo}, ""); err != nil {
		t.Fatal(err)
	}
	locks := []string{"HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock"}
	for _, ask := range (wanted{ref: task.Ref, full: task.Ref}).asks("") {
		locks = append(locks, ask.read+".lock")
	}
	for _, name := range locks {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(path, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Many want the same ref that no branch leads to, at the same time.
	want := gitIn(t, repo, "rev-parse", "b0")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := b.findStart(t.Context(), task, repo, ""); got.base != want {
				t.Errorf("%q is found, want %q: %v", got.base, want, err)
			}
		})
	}
	wg.Wait()
}
