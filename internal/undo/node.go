package undo

import (
	"slices"
	"strings"

	"adze/internal/undo/pack"
)

// Kind is what stands at a path.
type Kind uint8

// Kinds of entries.
const (
	Absent Kind = iota
	File
	Folder
	Symlink
	// LeftOut is something that undo does not cover.
	LeftOut
)

func (k Kind) String() string {
	return [...]string{"absent", "file", "folder", "link", "left out"}[min(k, LeftOut)]
}

// Entry is what a state says of one path.
type Entry struct {
	Kind Kind
	Mode uint32    // permission bits with set-ID and sticky, of a file or folder
	Size int64     // of a file, in bytes
	Hash pack.Hash // of a file's content, of a folder's listing
	// Target is where a symbolic link leads, or why an entry is left out; of a folder, that it was
	// left out before it was moved here.
	Target string
	// Attrs are the extended attributes and access lists of a file or folder, with its owner where
	// that is not who runs, as one text; empty when it has none.
	Attrs string
}

// alike reports whether two entries are the same to look at: kind, mode and content.
func (e Entry) alike(o Entry) bool {
	switch {
	case e.Kind != o.Kind:
		return false
	case e.Kind == Folder:
		return e.Mode == o.Mode && e.Attrs == o.Attrs
	case e.Kind == File:
		return e.Mode == o.Mode && e.Size == o.Size && e.Hash == o.Hash && e.Attrs == o.Attrs
	}
	return e.Target == o.Target
}

// stat is what the system says of an entry: as long as it is equal, the entry is.
type stat struct {
	mode         uint32 // with the type
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	inode        inode
	links        uint64
}

// The types in a mode, as Unix writes them. Windows has no permission bits but one that forbids to
// write: there they are 0600 or 0400 of a file, and 0700 of a folder.
const (
	typeBits   = 0o170000
	typeFile   = 0o100000
	typeFolder = 0o040000
	typeLink   = 0o120000
)

func (s stat) isFile() bool   { return s.mode&typeBits == typeFile }
func (s stat) isFolder() bool { return s.mode&typeBits == typeFolder }
func (s stat) isLink() bool   { return s.mode&typeBits == typeLink }

type inode struct{ dev, ino uint64 }

// unchanged compares all but the number of links, which comes with a new ctime anyway.
func (s stat) unchanged(o stat) bool {
	s.links = o.links
	return s == o
}

// node is an entry of a folder with what stat said when it was read.
type node struct {
	Entry
	name    string
	stat    stat
	lately  bool // it changed so shortly before it was read that stat proves nothing
	ignored bool
	sub     *dir // of a folder
}

// dir is a folder: its nodes in the order of their names, and the hash of its listing.
type dir struct {
	nodes []node
	hash  pack.Hash
	self  *Entry // what the folder itself is, of the root; of others it stands above
	prev  *dir   // what it was at the Take before; only while a Take runs
}

// search finds a name among the nodes, or where it would stand.
func (d *dir) search(name string) (int, bool) {
	return slices.BinarySearchFunc(d.nodes, name, func(n node, name string) int { return strings.Compare(n.name, name) })
}

// find returns the node of a name; nil when there is none. from is a hint: where to look first.
func (d *dir) find(name string, from *int) *node {
	if d == nil {
		return nil
	}
	for *from < len(d.nodes) && d.nodes[*from].name < name {
		*from++
	}
	if *from < len(d.nodes) && d.nodes[*from].name == name {
		return &d.nodes[*from]
	}
	return nil
}
