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

// first keeps the files with the first matches by path, in a heap with the last path on top. A file
// without kept lines counts as one match. Workers share it.
type first struct {
	limit int
	last  atomic.Pointer[string] // last kept path once the limit is reached; later ones are refused

	mu    sync.Mutex
	files []weightedFile // a heap once the limit was reached
	count int            // matches in files
}

type weightedFile struct {
	FileMatches
	weight int
}

// newFirst returns a first for a query. If the search stops at the limit, it keeps one match more,
// to know that there are more.
func newFirst(q GrepQuery) *first {
	f := &first{limit: q.Limit}
	if q.Stop && q.Limit < math.MaxInt {
		f.limit++
	}
	return f
}

// takes reports whether this file, or with an empty name anything below the folder, may still be
// among the first.
func (f *first) takes(folder, name string) bool {
	at := f.last.Load()
	if at == nil {
		return true
	}
	return comesBefore(folder, name, *at)
}

// comesBefore reports folder+name < path without building the string: most files are rejected.
func comesBefore(folder, name, path string) bool {
	if len(folder) <= len(path) && path[:len(folder)] == folder {
		return name < path[len(folder):]
	}
	return folder < path
}

func (f *first) add(m FileMatches) {
	file := weightedFile{m, m.weight()}
	f.mu.Lock()
	defer f.mu.Unlock()
	full := f.count >= f.limit
	if f.count += file.weight; full {
		heap.Push(f, file)
	} else if f.files = append(f.files, file); f.count >= f.limit {
		heap.Init(f)
	}
	if f.count < f.limit {
		return
	}
	for f.count-f.files[0].weight >= f.limit {
		f.count -= f.files[0].weight
		heap.Pop(f)
	}
	last := f.files[0].Path
	f.last.Store(&last)
}

// weight returns the number of results the file counts for.
func (m *FileMatches) weight() int {
	n := 0
	for _, l := range m.Lines {
		n += int(l.Starts)
	}
	return max(n, 1)
}

// sorted returns the files in order, the last one cut so that at most limit matches remain, and
// whether anything was cut.
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

// cutMatches returns the lines for the first n matches, without the context before the next match.
func cutMatches(lines []match.Line, n int) []match.Line {
	for i, l := range lines {
		if n <= 0 && l.Starts > 0 {
			return trimContext(lines[:i])
		}
		n -= int(l.Starts)
	}
	return lines
}

// trimContext drops trailing context lines that do not directly follow a match.
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
