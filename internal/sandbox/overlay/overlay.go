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
//   - Renames and links are found by content, times and names, because the kernel does not tell an
//     unprivileged user which file was copied. They become rename(2) and link(2). A renamed folder
//     has an attribute that says where it was (package seccomptrace).
//   - Where only attributes or times differ, only those are set.
//
// Nobody else's work is lost. Where another program changed an entry meanwhile, or has it open, an
// append is appended, attributes are set, and a replaced, renamed or removed file stays so, as
// without a view. Any other change is left out, and the command's version is kept. What belongs
// together (a database with its journals) is applied as a whole or left out as a whole.
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
//   - A file that is renamed and rewritten in one command, among others of its kind, may get a new
//     inode.
//   - The journal, up to 16 files that replace others, and all that git keeps under lock are on the
//     disk before anything is applied. After a loss of power what had been applied may be missing
//     in part, which the journal then finishes; a new file, or one of more than 16, may be empty,
//     as those of each program that does not sync are. What a program synced itself counts no more
//     than that.
//   - When the system's clock is set back, what somebody else changed since is not told from what
//     was there.
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

	// Copied says that the kernel copied the entry up: the command wrote into what was there, changed
	// its attributes, or gave it this name.
	Copied bool
	// Content compares a copied file with what is there.
	Content Content
	//lint:ignore U1000 views are of Linux alone
	fork int64 // where both contents differ, at the beginning of a line
	//lint:ignore U1000 views are of Linux alone
	how how
	//lint:ignore U1000 views are of Linux alone
	attributes bool // those of the file below are the same
	//lint:ignore U1000 views are of Linux alone
	followed []string // paths in a renamed folder that somebody else made meanwhile
	//lint:ignore U1000 views are of Linux alone
	was string // where the entry is that goes away, if its folder is renamed before
	//lint:ignore U1000 views are of Linux alone
	renamed bool // a removed entry has got another name
	//lint:ignore U1000 views are of Linux alone
	loose bool // what is there may have grown meanwhile
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

// how is the way in which a copied file is applied.
//
//lint:ignore U1000 views are of Linux alone
type how byte

const (
	//lint:ignore U1000 views are of Linux alone
	inPlace how = iota
	//lint:ignore U1000 views are of Linux alone
	appended
	//lint:ignore U1000 views are of Linux alone
	attributes
)

// Content is how the content of a copied file differs from that of the file below.
type Content byte

// The ways in which contents differ.
const (
	Differs Content = iota
	Same
	Grown  // the command's has more at its end
	Behind // the file below has more at its end
	Forked // both have more at their ends
)

// Origin is an entry that a command renamed or linked.
type Origin struct {
	Path  string // relative to the root of the change
	Stat  Stat
	Link  bool    // the entry keeps its old name
	Whole bool    // it is in a folder that was renamed
	Gone  *Change // by which the old name goes; if nil, it stays
}

// Stat is what a change remembers of an entry.
type Stat struct {
	Mode     uint32 // with its type; if 0, there is no entry
	Dev, Ino uint64
	Size     int64
	Changed  [2]int64 // time of the last change of the inode
	Modified [2]int64
	Accessed [2]int64
	Born     [2]int64 // 0 where the file system does not say
	UID, GID uint32
	Links    uint64
}

// Left is a change that was not applied.
type Left struct {
	Path string // absolute
	Why  string
	Kept string // where the command's version lies; if empty, there is nothing to keep
}

// Note says of an entry how it differs from what it would be without a view.
type Note struct {
	Path string // absolute
	What string
}

// What a note says.
const (
	NoteBehind   = "another program appended to it while the command ran, and its lines stand before those of the command"
	NoteUnlinked = "it had other names (hard links), which keep what they were"
	NoteFollowed = "another program wrote it while the command renamed the folder; it is in the renamed folder now"
)

// Reasons why a change is left out.
const (
	WhyNewer  = "somebody else changed it while the command ran"
	WhyParent = "somebody else changed the folder that it is in while the command ran"
	WhyLocked = "another git holds the lock"
	WhyGone   = "somebody else removed or renamed it while the command ran"
	WhyMoved  = "it holds lines that the command moved from a file that somebody else changed"

	WhyUnreadable = "what stands there cannot be looked at"
)

// Outcome is what came of a view.
type Outcome struct {
	Applied []string // absolute paths that were changed; a new folder stands for all that is in it
	Left    []Left
	// Notes are about what was applied, but is not as it would be without a view.
	Notes []Note
	// Full is the error of a disk that had no room: nothing is applied but what Left says stands. It is
	// nil where there was room.
	Full error
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
