package undo

// linkedNode is a file with several names.
type linkedNode struct {
	*node
	path string
}

// groupLinks gives the files that share an inode the first of their paths.
func (k *walker) groupLinks() {
	for _, all := range k.linked {
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
}
