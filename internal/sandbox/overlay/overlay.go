// Package overlay records one command's changes to folders apart from them, lists them, and applies
// them afterwards.
//
// Data flow:
//
//	Make      makes an upper folder for each root, for the kernel's overlay file system
//	(command) runs; the roots stay unchanged by it, but others may change them meanwhile
//	Changes   reads the upper folders as a tree of changes, each with the entry that it changes
//	(judge)   the caller sets SkipReason on each unwanted change
//	Apply     leaves out clashes with others' changes, writes the steps to a journal, and does them
//	Recover   finishes, at the next start, the journal of a killed process
//
// An upper folder holds only changes. A removed entry is a character device 0:0. A folder that
// hides its lower one has the attribute user.overlay.opaque. A file copied up by the kernel,
// because the command wrote to it, changed its attributes, renamed or linked it, has
// user.overlay.origin. So files keep their identity:
//
//   - A copied file is written in place under a write lease, only where it differs.
//   - A file without origin replaces the existing entry, as the command did.
//   - Renamed files and folders have an attribute with their old path (package seccomptrace),
//     because the kernel does not tell unprivileged users which file was copied. Renames and links
//     become rename(2) and link(2).
//   - If only attributes or times differ, only those are set.
//
// Others' work is never lost. If another program changed an entry meanwhile, or has it open, the
// change is left out and the command's version kept; only appended data is still appended. Files
// that belong together (a database with its journals) are applied together or not at all.
//
// Each root is accessed through its descriptor, without following links, because others may change
// it at any time. Only the owner can access the upper folders, and they are read after the command
// has ended.
//
// Known limits:
//   - Linux only. A command killed together with its supervisor before Apply counts as undone; its
//     changes are kept aside.
//   - The kernel does not mark a copied file with several names: it is replaced, its other names
//     keep the old content, and a note reports that.
//   - A file renamed by link(2) and unlink(2), or without the listener, gets a new inode.
//   - If the disk becomes full despite the check before, a part is applied, and the rest at the
//     next start.
//   - The journal, up to 16 files that replace others, and git's files under lock are synced before
//     anything is applied. After a power loss, applied changes may be partly missing, which the
//     journal then finishes. A new file, or one of more than 16, may be empty, as with any program
//     that does not sync; a program's own sync inside changes nothing.
//   - If the system clock is set back, changes by others go undetected.
package overlay

import (
	"adze/internal/sandbox/overlay/apply"
	"adze/internal/sandbox/overlay/entry"
	"errors"
)

// ErrInUse means that another process works on the stage.
var ErrInUse = errors.New("another adze works on this stage")

// ErrUnsupported means that this system has no views. Commands then work on the folders themselves.
var ErrUnsupported = errors.New("there is no private view of folders here")

// A Change is one entry in an upper folder.
type Change struct {
	Root     int
	Path     string // relative to the root; "" for the root itself
	Kind     apply.Kind
	Upper    entry.Stat
	Lower    entry.Stat // the existing entry; Mode is 0 if there is none
	Target   string     // for a Link
	Parent   *Change
	Children []*Change

	// Copied means that the kernel copied the entry up: the command wrote to it, changed its
	// attributes, or gave it this name.
	Copied bool
	// Content compares a copied file with the existing one.
	Content entry.Content
	decided
	// Origin is the entry's origin if the command renamed or linked it, else nil.
	Origin *Origin

	// SkipReason is the reason for not applying the change and everything below it, or "".
	SkipReason string
	// AskReason is the reason for asking the user, or "".
	AskReason string
	// Dropped means that the change is left out silently.
	Dropped bool
	// Locked means that the entry is replaced under git's lock file.
	Locked bool
	// Group numbers changes that are applied only if all their locks are available; 0 means none.
	Group int
	// Order sorts the changes, lowest first.
	Order int
	// Known means that the caller has checked others' changes to the entry, and it is replaced
	// anyway.
	Known bool
}

// An Origin is the old entry for a rename or link.
type Origin struct {
	Path            string // relative to the change's root
	Stat            entry.Stat
	Link            bool    // the entry keeps its old name
	InRenamedFolder bool    // inside a renamed folder
	Removal         *Change // the change removing the old name; nil if it stays
}

// Walk calls do for the change and all below it, parents first. If do returns false, it skips the
// change's children.
func (c *Change) Walk(do func(*Change) bool) {
	if !do(c) {
		return
	}
	for _, child := range c.Children {
		child.Walk(do)
	}
}
