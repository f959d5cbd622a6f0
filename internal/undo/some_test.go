//go:build linux

package undo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

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
			before, err := w.Settle(ctx)
			if err != nil {
				t.Fatal(err)
			}
			script := chance(r, 1+r.IntN(8))
			what := fmt.Sprintf("seed %d, round %d, step %d: %s", seed, i, step, script)
			p.sh(script)
			after, err := w.Settle(ctx)
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

// TestATopThatIsReadTwiceIsWhole has a look by hints give up after it has read the topmost folder:
// a file gets a name there whose other name is in a folder of which nothing is told.
func TestATopThatIsReadTwiceIsWhole(t *testing.T) {
	p := newSite(t)
	p.settledNow()
	p.sh("mkdir c; echo q > c/d; echo x > x")
	w := p.walked()
	p.likeAWalk(w, "before")
	p.sh("ln c/d d")
	p.likeAWalk(w, "with a second name")
}
