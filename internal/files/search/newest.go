package search

import (
	"cmp"
	"math/rand/v2"
	"strings"
)

// datedFile is a candidate result. Its time is an integer because a time.Time would add a pointer
// to compare.
type datedFile struct {
	path     string
	modified int64 // nanoseconds since 1970
	size     int64
	link     bool
}

// compare orders newest first, then by path.
func (f *datedFile) compare(g *datedFile) int {
	if f.modified != g.modified {
		return cmp.Compare(g.modified, f.modified)
	}
	return strings.Compare(f.path, g.path)
}

// newest keeps the first files in result order. At twice the limit it drops the later half.
type newest struct {
	limit int
	files []datedFile
	last  *datedFile // last file kept by the previous cut; later files are rejected
}

// add inserts a file. It builds the path only if the time does not exclude the file.
func (n *newest) add(f datedFile, folder, name string) {
	if l := n.last; l != nil && (f.modified < l.modified || f.modified == l.modified && !comesBefore(folder, name, l.path)) {
		return
	}
	f.path = folder + name
	if n.files = append(n.files, f); len(n.files)/2 >= n.limit {
		n.cut()
	}
}

func (n *newest) cut() {
	if len(n.files) <= n.limit {
		return
	}
	for low, high := 0, len(n.files); high-low > 1; {
		middle := part(n.files[low:high]) + low
		switch {
		case middle < n.limit-1:
			low = middle + 1
		case middle > n.limit-1:
			high = middle
		default:
			low = high
		}
	}
	n.files = n.files[:n.limit]
	last := n.files[n.limit-1]
	n.last = &last
}

// part partitions files around a pivot and returns the pivot's index.
func part(files []datedFile) int {
	last := len(files) - 1
	pivot := rand.IntN(len(files)) // random, so that no input order is bad
	files[pivot], files[last] = files[last], files[pivot]
	at := 0
	for i := range last {
		if files[i].compare(&files[last]) < 0 {
			files[i], files[at] = files[at], files[i]
			at++
		}
	}
	files[at], files[last] = files[last], files[at]
	return at
}
