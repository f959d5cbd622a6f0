package search

import (
	"container/heap"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/files/search/match"
)

// first keeps the first files by path that together hold the matches to return: a heap with the
// last of them on top. A file without kept lines counts as one. All workers share it.
type first struct {
	limit int
	last  atomic.Pointer[string] // the path of the last file, once the limit is reached; a later one is not taken

	mu    sync.Mutex
	files []weightedFile // a heap from when the limit was reached first
	held  int            // matches in files
}

// weightedFile is a file with how much of the limit it takes.
type weightedFile struct {
	FileMatches
	weight int
}

// newFirst keeps what a query returns, and, where the search ends at the limit, one match more to
// know that there is one.
func newFirst(q GrepQuery) *first {
	f := &first{limit: q.Limit}
	if q.Stop && q.Limit < math.MaxInt {
		f.limit++
	}
	return f
}

// takes reports whether a file of this path, or without a name anything below this folder, may
// still be among the first.
func (f *first) takes(folder, name string) bool {
	at := f.last.Load()
	if at == nil {
		return true
	}
	return comesBefore(folder, name, *at)
}

// comesBefore compares folder+name with a path without putting it together: most files come too
// late.
func comesBefore(folder, name, path string) bool {
	if len(folder) <= len(path) && path[:len(folder)] == folder {
		return name < path[len(folder):]
	}
	return folder < path
}

// add offers a file and lets go of those that are no longer needed.
func (f *first) add(m FileMatches) {
	file := weightedFile{m, m.weight()}
	f.mu.Lock()
	defer f.mu.Unlock()
	full := f.held >= f.limit
	if f.held += file.weight; full {
		heap.Push(f, file)
	} else if f.files = append(f.files, file); f.held >= f.limit {
		heap.Init(f)
	}
	if f.held < f.limit {
		return
	}
	for f.held-f.files[0].weight >= f.limit {
		f.held -= f.files[0].weight
		heap.Pop(f)
	}
	last := f.files[0].Path
	f.last.Store(&last)
}

// weight is how much of the limit a file takes.
func (m *FileMatches) weight() int {
	n := 0
	for _, l := range m.Lines {
		if l.Starts {
			n++
		}
	}
	return max(n, 1)
}

// sorted returns the files in order, the last one cut so that no more than limit matches are left,
// and whether that left something out.
func (f *first) sorted(limit int) (files []FileMatches, more bool) {
	slices.SortFunc(f.files, func(a, b weightedFile) int { return strings.Compare(a.Path, b.Path) })
	files = slices.Grow(files, len(f.files))
	left := limit
	for _, m := range f.files {
		if left == 0 {
			return files, true
		}
		if m.weight > left {
			m.Lines, m.weight, more = cutMatches(m.Lines, left), left, true
		}
		left -= m.weight
		files = append(files, m.FileMatches)
	}
	return files, more
}

// cutMatches keeps the lines of the first n matches: up to the next match, without what lies before
// that one as its context.
func cutMatches(lines []match.Line, n int) []match.Line {
	for i, l := range lines {
		if !l.Starts {
			continue
		}
		if n == 0 {
			return trimContext(lines[:i])
		}
		n--
	}
	return lines
}

// trimContext drops context lines at the end that do not follow a match directly.
func trimContext(lines []match.Line) []match.Line {
	last := len(lines) - 1
	for last >= 0 && !lines[last].Match {
		last--
	}
	for last+1 < len(lines) && lines[last+1].Number == lines[last].Number+1 {
		last++
	}
	return lines[:last+1]
}

func (f *first) Len() int           { return len(f.files) }
func (f *first) Less(i, j int) bool { return f.files[i].Path > f.files[j].Path }
func (f *first) Swap(i, j int)      { f.files[i], f.files[j] = f.files[j], f.files[i] }
func (f *first) Push(x any)         { f.files = append(f.files, x.(weightedFile)) }
func (f *first) Pop() any {
	last := f.files[len(f.files)-1]
	f.files[len(f.files)-1] = weightedFile{}
	f.files = f.files[:len(f.files)-1]
	return last
}
