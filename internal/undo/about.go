package undo

import (
	"path/filepath"

	"adze/internal/undo/pack"
)

// Content is a content of a file that is kept, by its hash.
func (w *Workspace) Content(h pack.Hash) ([]byte, error) { return w.store.Get(h) }

// Usual reports that nobody expects it to be covered: git ignores it, and programs make it again or it is large.
func (l Left) Usual() bool { return l.Reason == leftMade || l.Reason == leftIgnored }

// Covers says why undo does not cover a folder; nil: it does.
func Covers(o Options) error {
	root := filepath.Clean(o.Root)
	if root == string(filepath.Separator) || o.Home != "" && root == filepath.Clean(o.Home) {
		return ErrTooWide
	}
	top, err := openRoot(root, false)
	if err == nil {
		top.close()
	}
	return err
}
