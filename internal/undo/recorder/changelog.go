package recorder

import (
	"maps"
	"strings"
	"sync"
	"time"

	"adze/tool"
)

// A ChangeLog records the changes made by a run's calls and those of its subagents: paths named by
// file tools and paths applied from commands' views. It is safe for concurrent use. The zero value
// is empty.
type ChangeLog struct {
	mu    sync.Mutex
	paths map[string]int64 // time of the last change in nanoseconds since 1970
}

// mostWritten limits the recorded paths.
const mostWritten = 500_000

func (w *ChangeLog) named(paths []string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paths == nil || len(w.paths)+len(paths) > mostWritten {
		w.paths = map[string]int64{}
	}
	for _, p := range paths {
		w.paths[p] = time.Now().UnixNano()
	}
}

// since returns a function that reports whether a path was changed after a time by a call, as was
// everything below it and each folder created for it. A nil function means all paths count as
// changed by calls.
func (w *ChangeLog) since(from int64) func(path string) bool {
	if w == nil {
		return func(string) bool { return true }
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	named := maps.Clone(w.paths)
	maps.DeleteFunc(named, func(_ string, at int64) bool { return at < from })
	above := map[string]bool{}
	for p := range named {
		for at := parent(p); at != ""; at = parent(at) {
			above[at] = true
		}
	}
	return func(path string) bool {
		known := above[path]
		for at := path; at != "" && !known; at = parent(at) {
			_, known = named[at]
		}
		return known
	}
}

func parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// writes returns the paths a call declares to change, relative to the folder.
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
