// Package overlay keeps the changes that one command makes to folders apart from them, lists them,
// and applies them to the folders afterwards as the command made them.
//
// Data flow:
//
//	Make      makes an empty folder for each root, where the kernel's overlay file system writes
//	(command) runs; the roots stay as they are, and other programs may change them meanwhile
//	Changes   reads the upper folders as a tree of changes, each beside the entry that it changes
//	(judge)   the caller sets Left on each change that is not to be applied
//	Apply     leaves out what others changed too, writes the steps to a journal, and does them
//	Recover   finishes, at the next start, what a killed process has begun to apply
//
// An upper folder holds exactly what was changed. A removed entry is a character device 0:0, a
// folder that does not show what lies below it has the attribute user.overlay.opaque, and a file
// that the kernel copied there has user.overlay.origin: the command wrote into it, changed its
// attributes, renamed or linked it. So changes keep the identity of files:
//
//   - A copied file is written in place, only where it differs, under a write lease.
//   - A file without origin replaces what is there, as the command did it.
//   - Renamed files and folders have an attribute that says where they were (package
//     seccomptrace), because the kernel does not tell an unprivileged user which file was copied.
//     Renames and links become rename(2) and link(2).
//   - Where only attributes or times differ, only those are set.
//
// Nobody else's work is lost. Where another program changed an entry meanwhile, the change is left
// out, and the command's version is kept. So it is where another program has the file open, but for
// what the command appended. What belongs together (a database with its journals) is applied as a
// whole or left out as a whole.
//
// Everything in a root is reached from its descriptor, without following links, because other
// programs may change it at any time. Nobody but the owner reaches the upper folders, and the
// command has ended when they are read.
//
// Known limits:
//   - Linux only. A command killed together with its supervisor before Apply counts as undone; its
//     changes are kept beside.
//   - The kernel does not mark a copied file that had several names: such a file is replaced, and
//     its other names keep what they were, which is told.
//   - A file that is renamed by link(2) and unlink(2), or without the listener of calls, gets a new
//     inode.
//   - Where the disk becomes full although there was room for all, a part is applied, and the rest
//     when adze starts again.
//   - The journal, up to 16 files that replace others, and all that git keeps under lock are on the
//     disk before anything is applied. After a loss of power what had been applied may be missing
//     in part, which the journal then finishes; a new file, or one of more than 16, may be empty,
//     as those of each program that does not sync are. What a program synced itself counts no more
//     than that.
//   - When the system's clock is set back, what somebody else changed since is not told from what
//     was there.
package overlay

import (
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
	"errors"
)

// ErrInUse says that another process works on a stage.
var ErrInUse = errors.New("another adze works on this stage")

// ErrUnsupported says that there are no views here. Commands then work on the folders themselves.
var ErrUnsupported = errors.New("there is no private view of folders here")

// Change is one entry of an upper folder.
type Change struct {
	Root     int
	Path     string // relative to the root; "" for the root itself
	Kind     apply.Kind
	Upper    entry.Stat
	Lower    entry.Stat // of the entry that is there now; its Mode is 0 where there is none
	Target   string     // of a Link
	Parent   *Change
	Children []*Change

	// Copied says that the kernel copied the entry up: the command wrote into what was there, changed
	// its attributes, or gave it this name.
	Copied bool
	// Content compares a copied file with what is there.
	Content entry.Content
	decided // how it is applied
	// From is where an entry was that the command renamed, or of which it made another name; if nil,
	// it did neither.
	From *Origin

	// Left says why the change, with all below it, is not applied. If empty, it is.
	Left string
	// Doubt says why only the user can have the change applied. If empty, nobody need be asked.
	Doubt string
	// Dropped says that nobody needs the change: it is left out without a word.
	Dropped bool
	// Locked says that the entry is replaced below git's lock file.
	Locked bool
	// Group numbers changes that are applied only if the locks of all of them can be had; if 0, it is
	// in none.
	Group int
	// Order is when the change is applied: the lowest first.
	Order int
	// Known says that the entry may have been changed meanwhile: it has been looked at, and is
	// replaced all the same.
	Known bool
}

// Origin is an entry that a command renamed or linked.
type Origin struct {
	Path  string // relative to the root of the change
	Stat  entry.Stat
	Link  bool    // the entry keeps its old name
	Whole bool    // it is in a folder that was renamed
	Gone  *Change // by which the old name goes; if nil, it stays
}

// Walk calls do for the change and all below it, parents first. Below a change for which do returns
// false it does not go.
func (c *Change) Walk(do func(*Change) bool) {
	if !do(c) {
		return
	}
	for _, child := range c.Children {
		child.Walk(do)
	}
}
