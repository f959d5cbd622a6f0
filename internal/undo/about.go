package undo

import "path/filepath"

// Expected reports whether users expect the path not to be covered: git ignores it, and it is
// generated or large.
func (l Uncovered) Expected() bool { return l.Reason == leftMade || l.Reason == leftIgnored }

// Covers returns an error that explains why undo does not cover a folder, or nil if it does.
func Covers(o Options) error {
	o.Root = filepath.Clean(o.Root)
	if err := TooWide(o); err != nil {
		return err
	}
	top, err := openRoot(o.Root)
	if err == nil {
		top.close()
	}
	return err
}
