package undo

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/files/search/ignore"
)

// Group says with what a path is restored.
type Group string

// Groups of paths.
const (
	GroupFiles Group = ""
	GroupGit   Group = "git" // what git keeps of its own state; restored only when asked for
)

// Change is what became of one path.
type Change struct {
	Path   string
	Group  Group
	Before Entry
	After  Entry
}

// rootPath is the path of the folder itself, of which only mode and attributes change.
const rootPath = "."

// groupOf says which group a change belongs to. A ".git" that is a file (of a submodule, of a
// worktree) only says where git's state is, and comes and goes with the folder that it stands in. A
// ".jj" speaks of commits that git keeps, so it goes with git's side.
func groupOf(path string, a, b Entry) Group {
	for at := path; at != ""; at = parentOf(at) {
		pointer := at == path && (a.leaf() || a.Kind == Absent) && (b.leaf() || b.Kind == Absent)
		switch name := at[strings.LastIndexByte(at, '/')+1:]; {
		case name == ignore.JJDir, name == gitName && !pointer:
			return GroupGit
		}
	}
	return GroupFiles
}

// Diff lists the paths that differ between two states, in an order in which a folder comes before
// what is in it. A folder itself counts when it came, went, or has another mode.
func (w *Workspace) Diff(ctx context.Context, a, b Mark) ([]Change, error) {
	d := differ{w: w, ctx: ctx}
	err := d.folders("", Entry{Kind: Folder, Hash: a.Tree}, Entry{Kind: Folder, Hash: b.Tree})
	return d.changes, err
}

type differ struct {
	w       *Workspace
	ctx     context.Context
	changes []Change
}

// folders compares two folders at path, one of which may be something else, and then has no
// entries.
func (d *differ) folders(path string, a, b Entry) error {
	if a.Kind == b.Kind && a.Hash == b.Hash {
		return d.ctx.Err()
	}
	before, err := d.w.openListing(a)
	if err != nil {
		return err
	}
	after, err := d.w.openListing(b)
	if err != nil {
		return err
	}
	x, more := before.next()
	y, too := after.next()
	for more || too {
		var from, to Entry
		name := y.name
		if more && (!too || x.name <= y.name) {
			from, name = x.Entry, x.name
		}
		if too && y.name == name {
			to = y.Entry
			y, too = after.next()
		}
		if more && x.name == name {
			x, more = before.next()
		}
		if err := d.one(path+name, from, to); err != nil {
			return err
		}
	}
	if before.bad || after.bad {
		return fmt.Errorf("a listing of /%s is damaged", path)
	}
	return nil
}

func (d *differ) one(path string, a, b Entry) error {
	if path == rootName {
		// An empty state says nothing of the folder itself.
		if a.Kind != Absent && b.Kind != Absent && !a.alike(b) {
			d.changes = append(d.changes, Change{rootPath, GroupFiles, a, b})
		}
		return nil
	}
	if a.Kind == Absent && b.Kind == Folder && b.Target != "" {
		a = Entry{Kind: LeftOut, Target: b.Target} // it stood elsewhere, and nobody knows what was in it
	}
	if !a.alike(b) {
		d.changes = append(d.changes, Change{path, groupOf(path, a, b), a, b})
	}
	if a.Kind == LeftOut || b.Kind == LeftOut {
		return nil // of what came into view, or went out of it, nobody knows what it was before
	}
	if a.Kind == Folder || b.Kind == Folder {
		return d.folders(path+"/", a, b)
	}
	return nil
}
