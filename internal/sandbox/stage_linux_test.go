package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/testkit/golden"
)

func (b *bench) stage() *sandbox.Stage {
	b.t.Helper()
	g, err := b.box.Stage("view-stage-1")
	if err == nil {
		err = g.Mount()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return g
}

// in is a path of the workspace as the stage shows it.
func in(g *sandbox.Stage, name string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", g.Folder().Fd(), name)
}

func everything(n int) []proc.FileChoice {
	out := make([]proc.FileChoice, n)
	for i := range out {
		out[i].Apply = true
	}
	return out
}

func (b *bench) review(g *sandbox.Stage) *sandbox.Staged {
	b.t.Helper()
	g.Unmount()
	r, err := g.Review()
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func TestAStageIsSeenByFilesAndCommandsAndTakenAtOnce(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "one\n")
	b.write("work/gone", "x\n")
	before := golden.Tree(t, b.work)
	g := b.stage()
	if r := b.apart("cat a; echo two > a; rm gone; echo n > made"); r.Code != 0 || r.Output.Head != "one\n" {
		t.Fatalf("%+v", r)
	}
	if data, err := os.ReadFile(in(g, "a")); err != nil || string(data) != "two\n" {
		t.Errorf("the change of a command, by files: %q, %v", data, err)
	}
	if err := os.WriteFile(in(g, "a"), []byte("three\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := b.apart("cat a; ls"); r.Output.Head != "three\na\nmade\n" {
		t.Errorf("the change of files, by a command: %+v", r)
	}
	if now := golden.Tree(t, b.work); now != before {
		t.Errorf("the workspace has changed:\n%s\nwas\n%s", now, before)
	}
	r := b.review(g)
	if len(r.Files) != 3 || len(r.Skipped)+len(r.Conflicts) > 0 {
		t.Errorf("%+v", r)
	}
	if found, err := r.Take("call", everything(len(r.Files))); err != nil || len(found.Messages) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	if got := b.read("a") + b.read("made"); got != "three\nn\n" {
		t.Errorf("%q", got)
	}
	if r := b.apart("echo four > a"); r.Code != 0 || b.read("a") != "four\n" {
		t.Errorf("a command after the stage: %+v", r)
	}
}

func TestAStageThatIsDroppedLeavesNothing(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "one\n")
	before := golden.Tree(t, b.work)
	g := b.stage()
	b.apart("echo two > a; mkdir d; echo x > d/x")
	if err := g.Drop(); err != nil {
		t.Fatal(err)
	}
	b.box.Close()
	if now := golden.Tree(t, b.work); now != before {
		t.Errorf("%s\nwas\n%s", now, before)
	}
	if left, _ := filepath.Glob(filepath.Join(b.state, "sandbox/views/*/*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWhatTheUserChangedMeanwhileIsAConflictAndNothingIsTaken(t *testing.T) {
	b := newViewBench(t)
	b.write("work/both", "before\n")
	b.write("work/ours", "before\n")
	g := b.stage()
	b.apart("echo ours > both; echo ours > ours")
	b.host("echo theirs > both")
	r := b.review(g)
	if len(r.Conflicts) != 1 || r.Conflicts[0] != "both" {
		t.Fatalf("conflicts: %v", r.Conflicts)
	}
	if _, err := r.Take("call", everything(2)); err == nil || !strings.Contains(err.Error(), "both changed") {
		t.Errorf("%v", err)
	}
	if got := b.read("both") + b.read("ours"); got != "theirs\nbefore\n" {
		t.Errorf("a part was taken: %q", got)
	}
	choices := everything(2)
	for i, f := range r.Files {
		choices[i].Apply = f.Path != "both"
	}
	if _, err := r.Take("call", choices); err != nil {
		t.Fatal(err)
	}
	if got := b.read("both") + b.read("ours"); got != "theirs\nours\n" {
		t.Errorf("%q", got)
	}
}

func TestAStageIsThereForTheNextProcess(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "one\n")
	g := b.stage()
	b.apart("echo two > a; mkdir -m 500 closed")
	name := g.Name()
	r := b.review(g)
	if err := g.Leave(); err != nil || len(r.Files) == 0 {
		t.Fatal(err, r.Files)
	}
	b.box = b.sandbox(sandbox.Namespaces)
	if told, err := b.box.Recover(); err != nil || len(told) > 0 {
		t.Fatal(told, err)
	}
	g, err := b.box.Stage(name)
	if err == nil {
		err = g.Mount()
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := b.apart("cat a; stat -c %a closed; echo more >> a"); r.Output.Head != "two\n500\n" {
		t.Errorf("%+v", r)
	}
	r = b.review(g)
	if _, err := r.Take("call", everything(len(r.Files))); err != nil || b.read("a") != "two\nmore\n" {
		t.Errorf("%v, %q", err, b.read("a"))
	}
	if sandbox.HasStage(b.state, b.work, name) {
		t.Error("a stage that is over goes on")
	}
}

func TestAStageIsDroppedAgainWhileTheOneBeforeIsRemoved(t *testing.T) {
	b := newViewBench(t)
	for range 20 {
		g := b.stage()
		for i := range 50 {
			if err := os.WriteFile(in(g, fmt.Sprint("file-", i)), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Drop(); err != nil {
			t.Fatal(err)
		}
	}
}
