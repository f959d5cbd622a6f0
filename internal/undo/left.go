package undo

import (
	"fmt"
	"slices"
	"strings"
)

// leave marks a node as not covered. Its existence and size stay in the state.
func leave(n *node, reason string) {
	n.Entry = Entry{Kind: LeftOut, Target: reason}
	if n.stat.isFile() {
		n.Target = fmt.Sprintf("%s; %d bytes, %d", reason, n.stat.size, n.stat.mtime)
	}
}

// leftOut lists the uncovered entries of a tree by path, and the folders among them. overLimit
// reports whether some are left out because of the total limits, so looking at single paths is not
// enough.
func leftOut(tree *dir) (all []Uncovered, folders map[inode]bool, overLimit bool) {
	folders = map[inode]bool{}
	var visit func(path string, d *dir)
	visit = func(path string, d *dir) {
		for i := range d.nodes {
			n := &d.nodes[i]
			if n.Kind == Folder {
				visit(path+n.name+"/", n.sub)
			}
			if n.Kind != LeftOut {
				continue
			}
			l := Uncovered{Path: path + n.name}
			l.Reason, _, _ = strings.Cut(n.Target, ";")
			if n.stat.isFile() {
				l.Size = n.stat.size
			}
			if n.stat.isFolder() {
				folders[n.stat.inode] = true
			}
			overLimit = overLimit || l.Reason == leftTotal || l.Reason == leftSpace
			if l.Reason != leftGit && l.Reason != leftStore {
				all = append(all, l)
			}
		}
	}
	visit("", tree)
	slices.SortFunc(all, func(a, b Uncovered) int { return strings.Compare(a.Path, b.Path) })
	return all, folders, overLimit
}
