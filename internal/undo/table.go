package undo

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"

	"adze/internal/osfile/atomicfile"
)

// The table is a cache of the last Take's tree with stat data, so the next run need not read
// everything. A missing, damaged or outdated table only costs time.
const tableMagic = "adze table 3\n"

const (
	flagLately  = 1
	flagIgnored = 2
)

func (w *Workspace) tablePath() string { return filepath.Join(w.opts.State, "table") }

// saveTable writes the table unless it is already on disk.
func (w *Workspace) saveTable() error {
	if w.tree == nil || w.saved || w.opts.Named {
		return nil
	}
	b := appendText([]byte(tableMagic), w.opts.Root)
	if w.tree.self != nil {
		b = appendEntry(b, *w.tree.self)
	} else {
		b = appendEntry(b, Entry{})
	}
	b = appendTree(b, w.tree)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	w.moment()
	if err := atomicfile.WriteCache(w.tablePath(), b); err != nil {
		return err
	}
	w.saved = true
	return nil
}

// loadTable returns nil if there is no usable table.
func (w *Workspace) loadTable() *dir {
	b, err := os.ReadFile(w.tablePath())
	if err != nil || len(b) < 4 {
		return nil
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return nil
	}
	r := reader{b: body}
	if string(r.take(len(tableMagic))) != tableMagic || r.text() != w.opts.Root {
		return nil
	}
	self := r.entry()
	d := r.tree(0)
	if self.Kind != Absent {
		d.self = &self
	}
	if r.bad || len(r.b) > 0 {
		return nil
	}
	return d
}

func appendTree(b []byte, d *dir) []byte {
	b = append(b, d.hash[:]...)
	b = binary.AppendUvarint(b, uint64(len(d.nodes)))
	for i := range d.nodes {
		n := &d.nodes[i]
		b = appendEntry(appendText(b, n.name), n.Entry)
		var flags byte
		if n.recentlyChanged {
			flags |= flagLately
		}
		if n.ignored {
			flags |= flagIgnored
		}
		b = append(b, flags)
		for _, v := range n.stat.words() {
			b = binary.AppendUvarint(b, v)
		}
		if n.Kind == Folder {
			b = appendTree(b, n.sub)
		}
	}
	return b
}

// maxDepth limits a table's nesting, so a damaged one does not exhaust the stack.
const maxDepth = 4096

func (r *reader) tree(depth int) *dir {
	d := &dir{}
	copy(d.hash[:], r.take(len(d.hash)))
	count := r.number()
	if depth > maxDepth || count > uint64(len(r.b)) {
		r.bad = true
		return d
	}
	d.nodes = make([]node, 0, count)
	for range count {
		n := node{name: r.text()}
		n.Entry = r.entry()
		if b := r.take(1); b != nil {
			n.recentlyChanged, n.ignored = b[0]&flagLately != 0, b[0]&flagIgnored != 0
		}
		var words [7]uint64
		for i := range words {
			words[i] = r.number()
		}
		n.stat = statOf(words)
		if n.Kind == Folder {
			n.sub = r.tree(depth + 1)
		}
		if r.bad {
			return d
		}
		d.nodes = append(d.nodes, n)
	}
	return d
}

func (s stat) words() [7]uint64 {
	return [7]uint64{uint64(s.mode), uint64(s.size), uint64(s.mtime), uint64(s.ctime), s.inode.dev, s.inode.ino, s.links}
}

func statOf(w [7]uint64) stat {
	return stat{uint32(w[0]), int64(w[1]), int64(w[2]), int64(w[3]), inode{w[4], w[5]}, w[6]}
}
