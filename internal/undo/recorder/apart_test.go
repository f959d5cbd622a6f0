package recorder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"adze/internal/undo"
	"adze/session"
	"adze/tool"
)

// apartPlace is a folder of which a keeper keeps states around calls whose commands change it by
// Applying.
type apartPlace struct {
	*testing.T
	root, state string
	keeper      *Keeper
}

func newApartPlace(t *testing.T) *apartPlace {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &apartPlace{T: t, root: filepath.Join(top, "work"), state: filepath.Join(top, "state")}
	for _, name := range []string{"a", "b", "d/c"} {
		p.write(name, "before")
	}
	p.open()
	return p
}

func (p *apartPlace) open() {
	p.keeper = NewKeeper(Options{Separate: func(r tool.Record) bool { return r.Tool == "shell" }, ChangeLog: &ChangeLog{},
		Options: undo.Options{Root: p.root, State: p.state, Limits: undo.Limits{KeepFree: 1}}})
	p.Cleanup(func() { _ = p.keeper.Close() })
}

func (p *apartPlace) write(name, content string) {
	p.Helper()
	path := filepath.Join(p.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		p.Fatal(err)
	}
}

func (p *apartPlace) before(id tool.CallID) (tool.Record, session.State) {
	p.Helper()
	r := tool.Record{Tool: "shell", Call: id}
	s, err := p.keeper.Before(context.Background(), r)
	if err != nil || s == nil || !s.Provisional {
		p.Fatal(s, err)
	}
	return r, *s
}

// apply has a command's changes applied, while the user writes something else and, at the last
// moment, to what the command names.
func (p *apartPlace) apply(id tool.CallID, names ...string) {
	p.Helper()
	var paths []string
	for _, n := range names {
		paths = append(paths, filepath.Join(p.root, n))
	}
	if err := p.keeper.Applying(tagOf(id), paths, func() []string {
		for _, n := range names {
			p.write(n, "after")
		}
		return paths
	}); err != nil {
		p.Fatal(err)
	}
}

func (p *apartPlace) changed(w session.Window, want ...string) {
	p.Helper()
	var got []string
	for _, c := range w.Changes {
		got = append(got, c.Path)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(w.Unsure) > 0 || w.Author != "" {
		p.Errorf("changed %v (unsure: %v, by %q), want %v", got, w.Unsure, w.Author, want)
	}
}

func (p *apartPlace) after(r tool.Record, s session.State) session.Window {
	p.Helper()
	w, err := p.keeper.After(context.Background(), r, s, func(session.Window) { p.Error("it has not ended") })
	if err != nil {
		p.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(p.state, "began.*")); len(left) > 0 {
		p.Errorf("%v is left", left)
	}
	return w
}

func TestOnlyWhatACommandChangedIsInItsWindow(t *testing.T) {
	p := newApartPlace(t)
	r, s := p.before("one")
	p.changed(p.after(r, s))

	r, s = p.before("two")
	p.write("b", "the user's")
	p.write("d/user", "the user's")
	p.apply("two", "a", "d/new", "made/here")
	p.write("d/c", "the user's")
	w := p.after(r, s)
	p.changed(w, "a", "d/new", "made", "made/here")

	r, s = p.before("three") // two commands of one call
	p.apply("three", "x")
	p.write("y", "the user's")
	p.apply("three", "z")
	p.changed(p.after(r, s), "x", "z")
}

// TestOnlyThePathsOfAFileToolAreLookedAt: what the user changes meanwhile is no part of its window,
// unless commands follow it.
func TestOnlyThePathsOfAFileToolAreLookedAt(t *testing.T) {
	p, followed := newApartPlace(t), false
	p.keeper.o.Path = func(target string) (string, bool) { return target, true }
	p.keeper.o.Followed = func() bool { return followed }
	edit := func(id tool.CallID) session.Window {
		p.write("d/c", "the user's, before "+string(id))
		r := tool.Record{Tool: "edit", Call: id, Needs: []tool.Need{{Permission: tool.Write, Target: "new/a"}}}
		s, err := p.keeper.Before(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		p.write("b", "the user's, in "+string(id))
		p.write("new/a", "after "+string(id))
		return p.after(r, *s)
	}
	p.changed(edit("one"), "new", "new/a")
	followed = true
	w := edit("two")
	if len(w.Changes) != 2 || !slices.Equal(w.Unsure, []string{"b"}) {
		t.Errorf("%+v, unsure %v", w.Changes, w.Unsure)
	}
}

func TestACommandOnTheFolderItselfHasItsStateBefore(t *testing.T) {
	p := newApartPlace(t)
	r, s := p.before("one")
	p.write("b", "the user's")
	if err := p.keeper.Live(t.Context(), tagOf("one")); err != nil {
		t.Fatal(err)
	}
	p.write("a", "after")
	w := p.after(r, s)
	if len(w.Changes) != 1 || w.Changes[0].Path != "a" {
		t.Errorf("%+v", w.Changes)
	}
}

// TestAKilledCallBeganWhereItChangedSomething: of a call that had changed nothing, nothing is known
// to have changed.
func TestAKilledCallBeganWhereItChangedSomething(t *testing.T) {
	p := newApartPlace(t)
	_, idle := p.before("idle")
	_, busy := p.before("busy")
	p.write("b", "the user's")
	p.apply("busy", "a")
	if err := p.keeper.Close(); err != nil {
		t.Fatal(err)
	}
	p.open()
	w, err := p.keeper.Lost(t.Context(), idle)
	if err != nil || len(w.Changes) > 0 || w.After == nil {
		t.Errorf("%+v %v", w, err)
	}
	w, err = p.keeper.Lost(t.Context(), busy)
	if err != nil || len(w.Changes) != 1 || w.Changes[0].Path != "a" {
		t.Errorf("%+v %v", w, err)
	}
}

// TestNothingIsAppliedThatCannotBeKept: the store is gone.
func TestNothingIsAppliedThatCannotBeKept(t *testing.T) {
	p := newApartPlace(t)
	_, _ = p.before("one")
	if err := os.RemoveAll(p.state); err != nil {
		t.Fatal(err)
	}
	err := p.keeper.Applying(tagOf("one"), []string{filepath.Join(p.root, "a")}, func() []string { t.Error("it was applied"); return nil })
	if err == nil {
		t.Error("no error")
	}
}

// A command that goes on as a job after its call changes the folder when it has ended: its window
// ends then, and an undo covers what it changed.
func TestACommandThatGoesOnIsCovered(t *testing.T) {
	p := newApartPlace(t)
	ended := make(chan struct{})
	running := true
	p.keeper.o.Jobs = func() []Job {
		if !running {
			return nil
		}
		return []Job{{Tag: "slow", Started: time.Now(), Wait: func(context.Context) { <-ended }}}
	}
	r, s := p.before("slow")
	other, otherState := p.before("other")
	late := make(chan session.Window, 1)
	w, err := p.keeper.After(t.Context(), r, s, func(w session.Window) { late <- w })
	if err != nil || w.After != nil {
		t.Fatalf("its window has ended: %+v, %v", w, err)
	}
	p.write("b", "the user's")
	p.apply("slow", "a", "d/new")
	running = false
	close(ended)
	p.changed(<-late, "a", "d/new")
	p.changed(p.after(other, otherState))
}
