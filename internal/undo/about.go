package undo

import "path/filepath"

// Usual reports that nobody expects it to be covered: git ignores it, and programs make it again or
// it is large.
func (l Left) Usual() bool { return l.Reason == leftMade || l.Reason == leftIgnored }

// Covers says why undo does not cover a folder; if nil, it does.
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
