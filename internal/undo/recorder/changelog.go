package recorder

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/tool"
)

// ChangeLog has what the calls of a run, and of its subagents, were seen to change: the paths that
// file tools name, and those that were applied from views of commands. It is safe for concurrent
// use. The zero value knows nothing.
type ChangeLog struct {
	mu  sync.Mutex
	all []*writer
}

// writer is one call or command.
type writer struct {
	from, to int64 // nanoseconds since 1970; to is 0 while it runs
	seen     bool  // paths and below are all that it changes
	paths    map[string]bool
	below    []string // all that stands below, too
}

// mostWritten bounds the paths that are remembered of what has ended.
const mostWritten = 500_000

func now() int64 { return time.Now().UnixNano() }

// Unseen notes that a command begins of which nobody sees what it changes, and returns what notes
// its end.
func (w *ChangeLog) Unseen() (ended func()) {
	one := w.begin(now())
	return func() { w.end(one) }
}

// named remembers the paths that a call says it changes, and the folders that it may make for them.
func (w *ChangeLog) named(from int64, paths []string) {
	if w == nil {
		return
	}
	one := w.begin(from)
	w.mu.Lock()
	one.seen = true
	for _, p := range paths {
		one.paths[p] = true
		one.below = append(one.below, p+"/")
		for at := parent(p); at != ""; at = parent(at) {
			one.paths[at] = true
		}
	}
	w.mu.Unlock()
	w.end(one)
}

func (w *ChangeLog) begin(from int64) *writer {
	one := &writer{from: from, paths: map[string]bool{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, one)
	return one
}

func (w *ChangeLog) end(one *writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.to = now()
	total := 0
	for i, x := range slices.Backward(w.all) {
		if total += len(x.paths); x.to != 0 && (x.seen && len(x.paths) == 0 || total > mostWritten) {
			w.all = slices.Delete(w.all, i, i+1)
		}
	}
}

// unseen reports that a command ran after a moment of which nobody saw what it changed.
func (w *ChangeLog) unseen(from int64) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.all, func(one *writer) bool { return !one.seen && (one.to == 0 || one.to >= from) })
}

// since tells of paths whether something was seen to change them that ran at some time after a
// moment. If nil, all are taken for seen.
func (w *ChangeLog) since(from int64) func(path string) bool {
	if w == nil {
		return func(string) bool { return true }
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	paths, below := map[string]bool{}, map[string]bool{}
	for _, one := range w.all {
		if one.to != 0 && one.to < from {
			continue
		}
		maps.Copy(paths, one.paths)
		for _, p := range one.below {
			below[p] = true
		}
	}
	return func(path string) bool {
		if paths[path] {
			return true
		}
		for at := path; at != ""; at = parent(at) {
			if below[at+"/"] {
				return true
			}
		}
		return false
	}
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// writes are the paths that a call says it changes, relative to the folder.
func (k *Keeper) writes(r tool.Record) (paths []string) {
	for _, n := range r.Needs {
		if n.Permission != tool.Write || n.Reach != "" || k.o.Path == nil {
			continue
		}
		if path, inside := k.o.Path(n.Target); inside {
			paths = append(paths, path)
		}
	}
	return paths
}
