//go:build amd64 || arm64

package seccomptrace

import (
	"strconv"
	"strings"
)

// teller tells which paths below a folder a command changes, each once.
type teller struct {
	root string
	to   func(path string, below bool)
	told map[string]bool
}

// mostTold bounds how many paths are told. Of others nobody knows who changed them.
const mostTold = 200_000

// Tell has every path told that the command is about to change below a folder, relative to it,
// before the kernel lets the call go on. Below: all that stands below the path, too. It must come
// before anything is answered.
func (w *Witness) Tell(root string, to func(path string, below bool)) {
	if w != nil {
		w.tell = teller{root, to, map[string]bool{}}
	}
}

// changed tells what a call changes. Whether it then succeeds nobody knows here: what was told and
// did not change does no harm.
func (w *Witness) changed(n *notice, c call, path string) {
	if len(w.tell.told) >= mostTold {
		return
	}
	switch c.act {
	case opens, opensHow:
		if n.openFlags(c)&writing == 0 {
			return
		}
		w.tellReal(n, path)
	case changes:
		w.tellReal(n, path)
	case makes, removes:
		w.tellName(n, path, false)
	case moves:
		w.tellName(n, path, true)
		to, ok := n.path(2, 3)
		if c.at < 0 {
			to, ok = n.path(-1, 1)
		}
		if ok {
			w.tellName(n, to, true)
		}
	}
}

// tellReal tells what a path leads to, or where nothing is there, the name that is made.
func (w *Witness) tellReal(n *notice, path string) {
	if at, ok := real(n.rooted(path)); ok {
		w.tell.one(at, false)
		return
	}
	w.tellName(n, path, false)
}

// tellName tells a name in its folder, wherever that leads.
func (w *Witness) tellName(n *notice, path string, below bool) {
	dir, name := split(n.rooted(path))
	if at, ok := real(dir); ok {
		w.tell.one(strings.TrimSuffix(at, "/")+"/"+name, below)
	}
}

// rooted is an absolute path as the process sees it that asked, which may have a root of its own.
func (n *notice) rooted(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return path
	}
	return "/proc/" + strconv.Itoa(int(n.pid)) + "/root" + path
}

func (t *teller) one(path string, below bool) {
	rel := "."
	if path != t.root {
		var inside bool
		if rel, inside = strings.CutPrefix(path, t.root+"/"); !inside {
			return
		}
	}
	key := rel
	if below {
		key += "/"
	}
	if t.told[key] || len(t.told) >= mostTold {
		return
	}
	t.told[key] = true
	t.to(rel, below)
}
