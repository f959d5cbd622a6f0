package search

import (
	"container/heap"
	"sort"

	"adze/internal/search/match"
)

// first keeps the first files by path that together hold the matches to return: a heap with the last
// of them on top. A file without kept lines counts as one.
type first struct {
	limit int
	files []FileMatches
	held  int // matches in files
}

// takes reports whether a file of this path may still be among the first.
func (f *first) takes(folder, name string) bool {
	if f.held < f.limit || len(f.files) == 0 {
		return true
	}
	// Compare without putting the path together: most files come too late.
	last := f.files[0].Path
	if len(folder) <= len(last) && last[:len(folder)] == folder {
		return name < last[len(folder):]
	}
	return folder < last
}

// add offers a file and lets go of those that are no longer needed.
func (f *first) add(m FileMatches) {
	heap.Push(f, m)
	f.held += m.weight()
	for f.held-f.files[0].weight() >= f.limit {
		f.held -= f.files[0].weight()
		heap.Pop(f)
	}
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

// sorted returns the files in order, the last one cut so that no more than limit matches are left.
func (f *first) sorted() []FileMatches {
	sort.Slice(f.files, func(i, j int) bool { return f.files[i].Path < f.files[j].Path })
	left := f.limit
	for i := range f.files {
		m := &f.files[i]
		if w := m.weight(); w > left {
			m.Lines = cutMatches(m.Lines, left)
		}
		left -= m.weight()
	}
	return f.files
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
func (f *first) Push(x any)         { f.files = append(f.files, x.(FileMatches)) }
func (f *first) Pop() any {
	last := f.files[len(f.files)-1]
	f.files[len(f.files)-1] = FileMatches{}
	f.files = f.files[:len(f.files)-1]
	return last
}
