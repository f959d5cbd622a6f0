// Package apply changes folders in steps, so that the next process can finish after a kill at any
// moment.
//
// A journal lists the steps before the first one is done, and a file beside it counts those done.
// Each step can be repeated. It begins by checking the entry at its path: if somebody else changed
// that, the step is left out and the command's version kept. Free space for all steps is checked at
// the start.
//
// Start reading at Locations.Run; spot.put, spot.move and spot.write are the largest steps.
//
// Known limits: those of package overlay.
package apply

// A Root is a folder seen by commands through a view.
type Root struct {
	Path     string
	Dev, Ino uint64
	// Hidden lists relative paths invisible to the command. Changes at them are listed like others;
	// their absence is no change.
	Hidden []string `json:",omitempty"`
	// Discarded means that changes are neither listed nor applied.
	Discarded bool `json:",omitempty"`
}

// Kind is a changed entry's new type.
type Kind byte

const (
	File    Kind = 'f'
	Link    Kind = 'l'
	New     Kind = 'n' // a folder that hides the old entry; its children are changes too
	Merged  Kind = 'm' // an existing folder with changed children
	Removed Kind = 'r'
	Special Kind = 's' // a socket, FIFO or device
)

// Unapplied is a change that was not applied.
type Unapplied struct {
	Path        string // absolute
	Reason      string
	CommandCopy string // path of the command's version, or "" if there is none
}

// A Note reports a difference caused by the view.
type Note struct {
	Path string // absolute
	What string
}

const (
	NoteFound    = "adze was killed while it wrote the command's version, which is whole now; what was found there is kept in the folder of what is kept"
	NoteUnlinked = "it had other names (hard links), which keep what they were"
	NoteApart    = "it is a copy and no other name of the file that the command linked, because somebody else changed that one meanwhile"
	NoteDressed  = "somebody else changed its attributes while the command ran, and they stay"
	NoteFollowed = "another program wrote it while the command renamed the folder; it is in the renamed folder now"
)

// Reasons for leaving out a change.
const (
	WhyNewer  = "somebody else changed it while the command ran"
	WhyParent = "somebody else changed the folder that it is in while the command ran"
	WhyLocked = "another git holds the lock"
	WhyGone   = "somebody else removed or renamed it while the command ran"

	WhyUnreadable = "what stands there cannot be looked at"
)

// Outcome is a view's result.
type Outcome struct {
	Applied   []string // absolute paths; a new folder stands for its content
	Unapplied []Unapplied
	// Notes are about applied changes.
	Notes []Note
	// Full is the disk's error if it is too full and nothing was applied.
	Full error
}
