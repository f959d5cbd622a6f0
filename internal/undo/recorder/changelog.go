package recorder

import (
	"maps"
	"strings"
	"sync"
	"time"

	"adze/tool"
)

// ChangeLog has what the calls of a run, and of its subagents, were seen to change: the paths that
// file tools name, and those that were applied from views of commands. It is safe for concurrent
// use. The zero value knows nothing.
type ChangeLog struct {
	mu    sync.Mutex
	paths map[string]int64 // when each was changed last, nanoseconds since 1970
}

// mostWritten bounds the paths that are remembered.
const mostWritten = 500_000

// named remembers the paths that a call changed.
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

// since tells of paths whether they were seen to be changed after a moment, with what stands below
// them and the folders that were made for them. If nil, all are taken for seen.
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
