// Package entry looks at files, links and folders by descriptors, compares and copies them, and
// finds out which other program has a file open.
//
// The one rule: nothing here follows a link.
//
// Start reading at Stat and At.
//
// Known limits: Linux only, but for RemoveAll and the types.
package entry

// Content is how the content of a copied file differs from that of the file below.
type Content byte

// The ways in which contents differ.
const (
	Differs Content = iota
	Same
	Grown  // the command's has more at its end
	Behind // the file below has more at its end
)

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

// typeBits are those of a mode that say what an entry is.
const typeBits = 0o170000

// Is reports an entry of a type, such as unix.S_IFLNK.
func (s Stat) Is(kind uint32) bool { return s.Mode&typeBits == kind }

// There reports that there is an entry.
func (s Stat) There() bool { return s.Mode != 0 }

// IsFolder reports a folder.
func (s Stat) IsFolder() bool { return s.Is(0o040000) }

// IsFile reports a regular file.
func (s Stat) IsFile() bool { return s.Is(0o100000) }

// SetID reports a regular file that runs as somebody else.
func (s Stat) SetID() bool { return s.IsFile() && s.Mode&(0o6000) != 0 }
