package search

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
)

// tally is a visitor that counts files.
type tally struct{ files *atomic.Int64 }

func (c tally) visit(_ context.Context, _ *dir, files []entry) { c.files.Add(int64(len(files))) }
func (c tally) unreadable(string)                              {}
func (c tally) beyond(string) bool                             { return false }
func (c tally) ordered() bool                                  { return false }

// TestWorkersBeginWithTheirWork: a small folder, such as most searches of a task are in, is looked
// through without a second worker, and a large one with all of them if need be.
func TestWorkersBeginWithTheirWork(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("f%d", i)] = "x"
	}
	small := tree(t, files)
	for i := range 40 {
		for j := range 70 {
			files[fmt.Sprintf("d%d/e/f%d", i, j)] = "x"
		}
	}
	large := tree(t, files)
	for name, c := range map[string]struct {
		tree Tree
		want int64
		off  int
	}{"small": {small, 20, 7}, "large": {large, 20 + 40*70, 0}} {
		var seen atomic.Int64
		visitors := make([]visitor, 8)
		for i := range visitors {
			visitors[i] = tally{&seen}
		}
		s, err := c.tree.scope([]string{"**"}, false, nil)
		must(t, err)
		at, err := c.tree.openRoot()
		must(t, err)
		w := &walk{tree: c.tree, scope: s}
		must(t, w.all(t.Context(), at, visitors))
		if seen.Load() != c.want || len(w.unworked) != c.off {
			t.Errorf("%s: %d files, %d workers did not begin, want %d and %d", name, seen.Load(), len(w.unworked), c.want, c.off)
		}
	}
}
