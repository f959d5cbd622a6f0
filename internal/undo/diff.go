package undo

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/files/search/ignore"
)

// A Group is a set of paths that are restored together.
type Group string

const (
	GroupFiles Group = ""
	GroupGit   Group = "git" // git's own state, restored only on request
)

// A Change is the difference of one path between two states.
type Change struct {
	Path   string
	Group  Group
	Before Entry
	After  Entry
}

// rootPath stands for the folder itself, of which only mode and attributes change.
const rootPath = "."

// groupOf returns a change's group. A ".git" file (of a submodule or worktree) only points to git's
// state, so it belongs to its folder. A ".jj" folder refers to git's commits, so it belongs to
// GroupGit.
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

// Diff lists the paths that differ between two states, folders before their entries. A folder
// itself counts if it was added or removed or its mode changed.
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

// folders compares two folders at path. One may be something else, which has no entries.
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
		// An empty state has no information about the folder itself.
		if a.Kind != Absent && b.Kind != Absent && !a.equal(b) {
			d.changes = append(d.changes, Change{rootPath, GroupFiles, a, b})
		}
		return nil
	}
	if a.Kind == Absent && b.Kind == Folder && b.Target != "" {
		a = Entry{Kind: LeftOut, Target: b.Target} // moved here; its old content is unknown
	}
	if !a.equal(b) {
		d.changes = append(d.changes, Change{path, groupOf(path, a, b), a, b})
	}
	if a.Kind == LeftOut || b.Kind == LeftOut {
		return nil // content that starts or stops being covered has no known other side
	}
	if a.Kind == Folder || b.Kind == Folder {
		return d.folders(path+"/", a, b)
	}
	return nil
}
