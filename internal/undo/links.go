package undo

// linkedNode is a file with several names.
type linkedNode struct {
	*node
	path string
}

// group is what was found of a file with several names.
type group struct{ links, found uint64 }

// groupLinks gives the files that share an inode the first of their paths. It is false when the
// hints did not tell all: a name that a file gets tells nothing in the folders of its other names.
func (k *walker) groupLinks() bool {
	before := k.Workspace.groups
	k.groups = make(map[inode]group, len(k.linked))
	for id, all := range k.linked {
		g := group{all[0].stat.links, uint64(len(all))}
		k.groups[id] = g
		if k.hint != nil && g.found < g.links && before[id] != g {
			return false
		}
		if len(all) < 2 {
			continue
		}
		first := all[0].path
		for _, n := range all {
			first = min(first, n.path)
		}
		for _, n := range all {
			n.Same = first
		}
	}
	return true
}
