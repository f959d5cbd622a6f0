package undo

import (
	"slices"
	"strings"

	"adze/internal/undo/pack"
)

// A Kind is the kind of a path's entry.
type Kind uint8

const (
	Absent Kind = iota
	File
	Folder
	Symlink
	// LeftOut is an entry undo does not cover.
	LeftOut
)

func (k Kind) String() string {
	return [...]string{"absent", "file", "folder", "link", "left out"}[min(k, LeftOut)]
}

// An Entry is the state of one path.
type Entry struct {
	Kind Kind
	Mode uint32    // permission, set-ID and sticky bits of a file or folder
	Size int64     // of a file, in bytes
	Hash pack.Hash // of a file's content or a folder's listing
	// Target is a symbolic link's target or the reason for leaving an entry out. For a folder it
	// marks one that was left out before it was moved here.
	Target string
	// Attrs encodes a file's or folder's extended attributes and access lists, and its owner if not
	// the process's user. It is empty if there are none.
	Attrs string
}

// equal reports whether two entries have equal kind, mode and content.
func (e Entry) equal(o Entry) bool {
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

// stat holds the system's data of an entry. While it is equal, the entry is unchanged.
type stat struct {
	mode         uint32 // with the type
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	inode        inode
	links        uint64
}

// Unix types of a mode. Windows has only a read-only bit: files are 0600 or 0400 there, folders
// 0700.
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

// unchanged compares all but the number of links, whose change also changes ctime.
func (s stat) unchanged(o stat) bool {
	s.links = o.links
	return s == o
}

// node is an entry of a folder with its stat from when it was read.
type node struct {
	Entry
	name            string
	stat            stat
	recentlyChanged bool // changed so shortly before it was read that stat proves nothing
	ignored         bool
	sub             *dir // of a folder
}

// dir is a folder: its nodes by name and its listing's hash.
type dir struct {
	nodes []node
	hash  pack.Hash
	self  *Entry // of the root; for others the parent holds it
	prev  *dir   // from the previous Take; only during a Take
}

// search returns a name's index, or where to insert it.
func (d *dir) search(name string) (int, bool) {
	return slices.BinarySearchFunc(d.nodes, name, func(n node, name string) int { return strings.Compare(n.name, name) })
}

// find returns the node of a name, or nil. from is the index to try first.
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
