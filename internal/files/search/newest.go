package search

import (
	"cmp"
	"math/rand/v2"
	"strings"
)

// datedFile is a file that may be returned; its time is a number, which is compared without a
// pointer to a time zone.
type datedFile struct {
	path     string
	modified int64 // nanoseconds since 1970
	size     int64
	link     bool
}

// compare is the order of results: newest first, then by path.
func (f *datedFile) compare(g *datedFile) int {
	if f.modified != g.modified {
		return cmp.Compare(g.modified, f.modified)
	}
	return strings.Compare(f.path, g.path)
}

// newest keeps the first files in the order of results. When there are twice as many as asked for,
// the later half is given up.
type newest struct {
	limit int
	files []datedFile
	last  *datedFile // of those that were kept the last time; nothing behind it counts
}

// add offers a file. Its path is only put together when its time does not rule it out.
func (n *newest) add(f datedFile, folder, name string) {
	if l := n.last; l != nil && (f.modified < l.modified || f.modified == l.modified && !comesBefore(folder, name, l.path)) {
		return
	}
	f.path = folder + name
	if n.files = append(n.files, f); len(n.files)/2 >= n.limit {
		n.cut()
	}
}

// cut gives up all but the first files, whose order is any.
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

// part puts what comes before one of some files in front of it, and the rest behind, and returns
// where it stands.
func part(files []datedFile) int {
	last := len(files) - 1
	pivot := rand.IntN(len(files)) // so that no order of the files is a bad one
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
