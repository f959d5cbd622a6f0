// Package overlay keeps the changes that one command makes to folders apart from them, lists them,
// and applies them to the folders afterwards.
//
// Data flow:
//
//	Make      makes an empty folder for each root, where the kernel's overlay file system writes
//	(command) runs; the roots stay as they are, and other programs may change them meanwhile
//	Changes   reads the upper folders as a tree of changes, each beside the entry that it replaces
//	(judge)   the caller sets Left on each change that is not to be applied
//	Apply     moves those aside, writes a journal, and applies the rest by rename
//	Recover   finishes, at the next start, what a killed process has begun to apply
//
// An upper folder holds exactly what was changed. A removed entry is a character device 0:0, and a
// folder that does not show what lies below it has the attribute user.overlay.opaque.
//
// The one rule: an entry is replaced or removed only if it is what it was when the view was made.
// Anything newer is somebody else's work: it stays, and the command's version is kept beside.
//
// Everything in a root is reached from its descriptor, without following links, because other
// programs may change it at any time. Nobody but the owner reaches the upper folders, and the
// command has ended when they are read.
//
// Known limits:
//   - Linux only. A command killed together with its supervisor before Apply counts as undone; its
//     changes are kept beside.
//   - A file that is changed gets a new inode: links to it from elsewhere keep the old content.
//   - The journal, up to 16 files that replace others, and all that git keeps under lock are on the
//     disk before anything is applied. After a loss of power what had been applied may be missing
//     in part, which the journal then finishes; a new file, or one of more than 16, may be empty,
//     as those of each program that does not sync are. What a program synced itself counts no more
//     than that.
//   - An entry that somebody else changes in the moment of its replacement, to the same size and
//     with the time of before, is taken for unchanged.
//   - When the system's clock is set back, what somebody else changed since is not told from what
//     was there.
//   - Changed times and attributes of a folder that was there before are not applied, its mode is.
package overlay

import "errors"

// ErrInUse says that another process works on a stage.
var ErrInUse = errors.New("another adze works on this stage")

// ErrUnsupported says that there are no views here. Commands then work on the folders themselves.
var ErrUnsupported = errors.New("there is no private view of folders here")

// Root is a folder that commands see through a view.
type Root struct {
	Path     string
	Dev, Ino uint64
	// Held are paths in it, relative and parents first, at which an empty read-only folder stands
	// for the command although nothing is there.
	Held []string `json:",omitempty"`
	// Hidden are paths in it, relative, that the command does not see although they are there. A
	// change at one of them is listed as any other; that it is not seen is none.
	Hidden []string `json:",omitempty"`
	// Discarded says that nothing that was changed in it is listed or applied.
	Discarded bool `json:",omitempty"`
}

// Kind is what a change leaves at its path.
type Kind byte

// The kinds of changes.
const (
	File    Kind = 'f'
	Link    Kind = 'l'
	New     Kind = 'n' // a folder that shows nothing of what was there before; its children are changes too
	Merged  Kind = 'm' // a folder that was there, with changed children
	Removed Kind = 'r'
	Special Kind = 's' // a socket, FIFO or device
)

// Change is one entry of an upper folder.
type Change struct {
	Root     int
	Path     string // relative to the root; "" for the root itself
	Kind     Kind
	Upper    Stat
	Lower    Stat   // of the entry that is there now; its Mode is 0 where there is none
	Target   string // of a Link
	Parent   *Change
	Children []*Change

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

// Stat is what a change remembers of an entry.
type Stat struct {
	Mode     uint32 // with its type; if 0, there is no entry
	Dev, Ino uint64
	Size     int64
	Changed  [2]int64 // time of the last change of the inode
	Modified [2]int64
	UID, GID uint32
	Links    uint64
}

// Left is a change that was not applied.
type Left struct {
	Path string // absolute
	Why  string
	Kept string // where the command's version lies; if empty, there is nothing to keep
}

// Outcome is what came of a view.
type Outcome struct {
	Applied []string // absolute paths that were changed; a new folder stands for all that is in it
	Left    []Left
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

// typeBits are those of a mode that say what an entry is.
const typeBits = 0o170000

func (s Stat) is(kind uint32) bool { return s.Mode&typeBits == kind }

// There reports that there is an entry.
func (s Stat) There() bool { return s.Mode != 0 }

// IsFolder reports a folder.
func (s Stat) IsFolder() bool { return s.is(0o040000) }

// IsFile reports a regular file.
func (s Stat) IsFile() bool { return s.is(0o100000) }

// SetID reports a regular file that runs as somebody else.
func (s Stat) SetID() bool { return s.IsFile() && s.Mode&(0o6000) != 0 }
