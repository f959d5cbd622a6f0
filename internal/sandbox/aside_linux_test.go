package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

// kept runs a script whose changes wait for a decision.
func (b *bench) kept(script string, change func(*proc.Command)) (proc.Result, error) {
	b.t.Helper()
	cmd := proc.Command{Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: b.work, Env: b.env(), Transaction: true, Timeout: time.Minute}
	change(&cmd)
	return proc.Supervisor{Cage: b.box}.Run(context.Background(), cmd)
}

func (b *bench) aside(script string) proc.Result {
	b.t.Helper()
	r, err := b.kept(script, func(c *proc.Command) { c.KeepChanges, c.ReviewChanges = true, true })
	if err != nil || r.Pending == nil {
		b.t.Fatalf("%+v, %v", r, err)
	}
	return r
}

// views are the folders of views that are left.
func (b *bench) views() (left []string) {
	b.box.Close() // waits for what is being removed
	left, _ = filepath.Glob(filepath.Join(b.state, "sandbox", "views", "*", "*view-*"))
	return left
}

func TestNothingIsAppliedOfACommandThatRanAsideBeforeItIsChosen(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "one\ntwo\n")
	b.write("work/gone", "gone\n")
	b.write("work/run", "x\n")
	r := b.aside("echo three >> a; rm gone; mkdir -p new/deep; echo n > new/n; echo d > new/deep/d; chmod 755 run; ln -s a link; printf '\\0' > bin; git init -q .; echo cached > $XDG_CACHE_HOME/lasts")
	shown := map[string]proc.ChangedFile{}
	for _, f := range r.Pending.Files {
		shown[f.Path] = f
	}
	if f := shown["a"]; f.Before != "one\ntwo\n" || f.After != "one\ntwo\nthree\n" || f.Change != "modified" {
		t.Errorf("a: %+v", f)
	}
	if f := shown["new/deep/d"]; f.Change != "added" || f.After != "d\n" {
		t.Errorf("new/deep/d: %+v", f)
	}
	if f := shown["gone"]; f.Change != "removed" || f.Before != "gone\n" || f.After != "" {
		t.Errorf("gone: %+v", f)
	}
	if f := shown["run"]; !strings.Contains(f.Summary, "mode 755") || shown["bin"].Texts || !strings.Contains(shown["link"].Summary, "link to a") {
		t.Errorf("%+v", shown)
	}
	if b.read("a") != "one\ntwo\n" || b.read("gone") != "gone\n" {
		t.Error("something is applied already")
	}
	choices := make([]proc.FileChoice, len(r.Pending.Files))
	part := "one\nTWO\n"
	for i, f := range r.Pending.Files {
		switch f.Path {
		case "a":
			choices[i] = proc.FileChoice{Apply: true, Text: &part}
		case "new/n", "run":
			choices[i].Apply = true
		}
	}
	if found := r.Pending.Apply(choices); len(found.Messages) > 0 {
		t.Error(found.Messages)
	}
	for name, want := range map[string]string{"a": part, "gone": "gone\n", "new/n": "n\n"} {
		if got := b.read(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"new/deep", "link", "bin", ".git/HEAD"} {
		if _, err := os.Lstat(filepath.Join(b.work, name)); err == nil && name != ".git/HEAD" {
			t.Errorf("%s was applied", name)
		}
	}
	if info, err := os.Stat(filepath.Join(b.work, "run")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode: %v, %v", info, err)
	}
	if r := b.apart("cat $XDG_CACHE_HOME/lasts"); r.Code == 0 {
		t.Error("what it put into its cache is still there")
	}
	if left := b.views(); len(left) > 0 {
		t.Error("views are left:", left)
	}
}

func TestWhatIsDroppedLeavesNothing(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "one\n")
	r := b.aside("echo two > a; mkdir -m 0 closed; echo x > b")
	if found := r.Pending.Apply(nil); len(found.Messages)+len(found.Denied) > 0 {
		t.Errorf("%+v", found)
	}
	if b.read("a") != "one\n" {
		t.Error("a was changed")
	}
	for _, name := range []string{"b", "closed"} {
		if _, err := os.Lstat(filepath.Join(b.work, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if left := b.views(); len(left) > 0 {
		t.Error("views are left:", left)
	}
}

// TestWhatTheUserChangesDuringTheReviewIsTheirs changes a file, makes another and removes a third
// while the decision is open.
func TestWhatTheUserChangesDuringTheReviewIsTheirs(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "one\n")
	b.write("work/b", "one\n")
	b.write("work/gone", "both remove it\n")
	r := b.aside("echo two > a; echo two > b; echo c > c; rm gone")
	b.host("rm gone")
	b.write("work/a", "mine\n")
	b.write("work/c", "mine too\n")
	choices := make([]proc.FileChoice, len(r.Pending.Files))
	for i := range choices {
		choices[i].Apply = true
	}
	found := r.Pending.Apply(choices)
	if b.read("a") != "mine\n" || b.read("c") != "mine too\n" || b.read("b") != "two\n" {
		t.Errorf("a %q, b %q, c %q", b.read("a"), b.read("b"), b.read("c"))
	}
	if said := strings.Join(found.Messages, "; "); strings.Contains(said, "gone") || !strings.Contains(said, "somebody else changed it") || !strings.Contains(said, "kept in") {
		t.Errorf("told: %s", said)
	}
}

// TestDoubtfulChangesWaitForTheUser has everything else applied whatever they say.
func TestDoubtfulChangesWaitForTheUser(t *testing.T) {
	for _, yes := range []bool{true, false} {
		b := newViewBench(t)
		r, err := b.kept("mkdir -p pkg/.vscode; echo '{}' > pkg/.vscode/tasks.json; ln -s /etc/passwd pkg/.vscode/out; echo x > pkg/x", func(c *proc.Command) { c.ReviewChanges = true })
		if err != nil || r.Pending == nil || len(r.Pending.Files) != 1 || r.Pending.Files[0].AskReason == "" || r.Pending.Files[0].Path != "pkg/.vscode/tasks.json" {
			t.Fatalf("%+v, %v", r.Pending, err)
		}
		found := r.Pending.Apply([]proc.FileChoice{{Apply: yes}})
		if b.read("pkg/x") != "x\n" || (b.read("pkg/.vscode/tasks.json") == "{}\n") != yes {
			t.Errorf("yes %v: x %q, tasks %q", yes, b.read("pkg/x"), b.read("pkg/.vscode/tasks.json"))
		}
		if _, err := os.Lstat(filepath.Join(b.work, "pkg/.vscode/out")); err == nil || yes && !strings.Contains(strings.Join(found.Messages, ";"), "leads out") {
			t.Errorf("the link: %v, told %v", err, found.Messages)
		}
	}
}

func TestACommandThatIsToRunAsideRunsSoOrNotAtAll(t *testing.T) {
	b := newViewBench(t)
	job, err := (proc.Supervisor{Cage: b.box}).Start(context.Background(), proc.Command{Argv: []string{"sleep", "60"}, Dir: b.work, Env: b.env(), Linger: true})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := b.kept("echo ran > ran", func(c *proc.Command) { c.KeepChanges = true }); err != nil || r.Pending == nil {
		t.Errorf("beside a job: %v", err)
	}
	job.End(proc.Aborted)
	job.Wait()
	b.box = b.sandbox(sandbox.Landlock)
	if _, err = b.kept("echo ran > ran", func(c *proc.Command) { c.KeepChanges = true }); !errors.Is(err, sandbox.ErrNoView) {
		t.Errorf("by Landlock: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(b.work, "ran")); err == nil {
		t.Error("it ran")
	}
}
