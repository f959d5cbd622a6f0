package search

import (
	"cmp"
	"strings"
)

// dated is a file that may be returned; its time is a number, which is compared without a pointer to a time zone.
type dated struct {
	path     string
	modified int64 // nanoseconds since 1970
	size     int64
	link     bool
}

// compare is the order of results: newest first, then by path.
func (f *dated) compare(g *dated) int {
	if f.modified != g.modified {
		return cmp.Compare(g.modified, f.modified)
	}
	return strings.Compare(f.path, g.path)
}

// newest keeps the first files in the order of results. When there are as many as asked for they become a heap with the last
// of them on top.
type newest struct {
	limit int
	files []dated
}

// add offers a file. Its path is only put together when its time does not rule it out.
func (n *newest) add(f dated, folder, name string) {
	full := len(n.files) == n.limit
	if full {
		last := &n.files[0]
		if f.modified < last.modified || f.modified == last.modified && !comesBefore(folder, name, last.path) {
			return
		}
	}
	f.path = folder + name
	if !full {
		if n.files = append(n.files, f); len(n.files) == n.limit {
			for i := n.limit/2 - 1; i >= 0; i-- {
				n.sink(i)
			}
		}
		return
	}
	if f.compare(&n.files[0]) < 0 {
		n.files[0] = f
		n.sink(0)
	}
}

// sink restores the heap below i.
func (n *newest) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(n.files) {
			return
		}
		if child+1 < len(n.files) && n.files[child].compare(&n.files[child+1]) < 0 {
			child++
		}
		if n.files[i].compare(&n.files[child]) >= 0 {
			return
		}
		n.files[i], n.files[child] = n.files[child], n.files[i]
		i = child
	}
}
