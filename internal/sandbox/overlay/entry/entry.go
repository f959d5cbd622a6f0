// Package entry examines files, links and folders through descriptors, compares and copies them,
// and finds programs that have a file open.
//
// The one rule: nothing here follows a link.
//
// Start reading at Stat and StatAt.
//
// Known limits: Linux only, except for RemoveAll and the types.
package entry

// Content is the result of comparing a copied file with the one below.
type Content byte

const (
	Differs Content = iota
	Same
	Grown  // the command's file is longer
	Behind // the file below is longer
)

// Stat holds an entry's metadata.
type Stat struct {
	Mode     uint32 // with type bits; 0 means no entry
	Dev, Ino uint64
	Size     int64
	Changed  [2]int64 // inode change time
	Modified [2]int64
	Accessed [2]int64
	Born     [2]int64 // 0 if unknown
	UID, GID uint32
	Links    uint64
}

const typeBits = 0o170000

// HasType reports whether the entry has a type, such as unix.S_IFLNK.
func (s Stat) HasType(kind uint32) bool { return s.Mode&typeBits == kind }

// Exists reports whether the entry exists.
func (s Stat) Exists() bool { return s.Mode != 0 }

// IsFolder reports whether the entry is a folder.
func (s Stat) IsFolder() bool { return s.HasType(0o040000) }

// IsFile reports whether the entry is a regular file.
func (s Stat) IsFile() bool { return s.HasType(0o100000) }

// SetID reports whether the entry is a setuid or setgid file.
func (s Stat) SetID() bool { return s.IsFile() && s.Mode&(0o6000) != 0 }
