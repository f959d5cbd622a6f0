// Package apply changes folders step by step, so that a process that is killed at any moment is
// finished by the next one.
//
// The steps are in a journal before the first one is done, and the number of those done stands
// beside it. Each step can be done again. It begins with a look at what is at its place: where
// somebody else changed that, the step is left out and the command's version is kept. Whether there
// is room for all steps is asked before the first one.
//
// Start reading at Ground.Run; spot.put, spot.move and spot.write are the three larger steps.
//
// Known limits: those of package overlay.
package apply

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
	NoteFound    = "adze was killed while it wrote the command's version, which is whole now; what was found there is kept in the folder of what is kept"
	NoteUnlinked = "it had other names (hard links), which keep what they were"
	NoteApart    = "it is a copy and no other name of the file that the command linked, because somebody else changed that one meanwhile"
	NoteDressed  = "somebody else changed its attributes while the command ran, and they stay"
	NoteFollowed = "another program wrote it while the command renamed the folder; it is in the renamed folder now"
)

// Reasons why a change is left out.
const (
	WhyNewer  = "somebody else changed it while the command ran"
	WhyParent = "somebody else changed the folder that it is in while the command ran"
	WhyLocked = "another git holds the lock"
	WhyGone   = "somebody else removed or renamed it while the command ran"

	WhyUnreadable = "what stands there cannot be looked at"
)

// Outcome is what came of a view.
type Outcome struct {
	Applied []string // absolute paths that were changed; a new folder stands for all that is in it
	Left    []Left
	// Notes are about what was applied, but is not as it would be without a view.
	Notes []Note
	// Full is the error of a disk that has no room: nothing is applied. It is nil where there is room.
	Full error
}
