//go:build linux

package undo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/effort"
)

// walked is a workspace on the same folder with a store of its own, that knows nothing.
func (p *site) walked() *Workspace {
	p.t.Helper()
	o := p.options()
	o.State = p.state + "-walked"
	w, err := Open(o)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = w.Close() })
	return w
}

// settledNow makes the clock of the workspace stand so late that no stat is doubted.
func (p *site) settledNow() {
	late := time.Now().Add(time.Hour)
	p.opts.Now = func() time.Time { return late }
}

// likeAWalk compares the state with one that a fresh look gives.
func (p *site) likeAWalk(w *Workspace, what string) {
	p.t.Helper()
	got := p.mark()
	want, err := w.TakeSettled(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	if got != want {
		p.t.Errorf("%s: another state than a walk finds", what)
	}
	if a, b := p.LeftOut(), w.LeftOut(); !slices.Equal(a, b) {
		p.t.Errorf("%s: left out %v, a walk says %v", what, a, b)
	}
}

// TestAStateOfSomePathsIsLikeAWalk changes a tree by chance, tells which paths that were, and
// compares the state that looks only there with that of a walk that knows nothing; then what else
// is changed stays out of such a state, and is in the next whole one.
func TestAStateOfSomePathsIsLikeAWalk(t *testing.T) {
	seed := effort.Seed(t, 1)
	for i := range effort.Rounds(4, 8, 200) {
		r := rand.New(rand.NewPCG(seed, uint64(i)+9000))
		p := newSite(t)
		p.settledNow()
		p.fill()
		w := p.walked()
		ctx, linked := context.Background(), false
		for step := range 6 {
			p.likeAWalk(w, "before")
			before, err := w.TakeSettled(ctx)
			if err != nil {
				t.Fatal(err)
			}
			script := chance(r, 1+r.IntN(8))
			what := fmt.Sprintf("seed %d, round %d, step %d: %s", seed, i, step, script)
			p.sh(script)
			after, err := w.TakeSettled(ctx)
			if err != nil {
				t.Fatal(err)
			}
			changes, err := w.Diff(ctx, before, after)
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for _, c := range changes {
				paths = append(paths, c.Path)
			}
			if linked = linked || strings.Contains(script, "ln "); !linked { // the names of a file are looked at together, so everywhere
				p.sh("printf theirs > theirs; mkdir -p their/own; printf theirs > their/own/file")
			}
			got, err := p.TakeAt(ctx, paths)
			if err != nil {
				t.Fatal(err)
			}
			if got != after {
				t.Fatalf("%s: other than a walk, which found %+v", what, changes)
			}
			p.sh("rm -rf theirs their")
			p.likeAWalk(w, what)
			if t.Failed() {
				return
			}
		}
	}
}

// TestAnUndoLooksOnlyAtWhatItPutsBack counts the entries that are looked at in a large folder.
func TestAnUndoLooksOnlyAtWhatItPutsBack(t *testing.T) {
	p, ctx := newSite(t), context.Background()
	p.sh("mkdir wide; cd wide; i=0; while [ $i -lt 500 ]; do echo $i > f$i; i=$((i+1)); done")
	before := p.mark()
	p.sh("echo changed > wide/f7; rm wide/f8; echo new > wide/new")
	after := p.mark()
	p.sh("echo theirs > wide/f9")
	plan, err := p.Plan(ctx, false, nil, nil, Window{before, after})
	if err != nil || len(plan.Steps) != 3 || len(plan.Refused) != 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	if n := p.looked.Load(); n > 4 {
		t.Errorf("the plan looked at %d entries", n)
	}
	r, err := p.Apply(ctx, plan)
	if err != nil || len(r.Done) != 3 || len(r.Refused) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if n := p.looked.Load(); n > 4 {
		t.Errorf("the undo looked at %d entries", n)
	}
	changes, err := p.Diff(ctx, r.Window.Before, r.Window.After)
	if err != nil || len(changes) != 3 {
		t.Errorf("the undo itself: %+v, %v", changes, err)
	}
	if changes, err = p.Diff(ctx, before, p.mark()); err != nil || len(changes) != 1 || changes[0].Path != "wide/f9" {
		t.Errorf("what is other than before: %+v, %v", changes, err)
	}
}
