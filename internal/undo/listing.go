package undo

import (
	"encoding/binary"
	"fmt"

	"adze/internal/undo/pack"
)

// A listing is the stored state of one folder: its entries by name, without stat data. It holds the
// hashes of the listings below.
const listingMagic = "adze listing 1\n"

// rootName is the root's name in its own listing, where it comes first. As a path it is ".".
const rootName = ""

// list stores the tree's new listings and fills in their hashes.
func (w *Workspace) list(d *dir) error {
	if d.hash != (pack.Hash{}) && d.prev == nil {
		return nil // shared with the previous Take
	}
	for i := range d.nodes {
		n := &d.nodes[i]
		if n.Kind != Folder {
			continue
		}
		if err := w.list(n.sub); err != nil {
			return err
		}
		n.Hash = n.sub.hash
	}
	prev := d.prev
	d.prev = nil
	if prev != nil && prev.equal(d) && w.store.Has(prev.hash) {
		d.hash = prev.hash
		return nil
	}
	w.moment()
	h, err := w.store.Put(d.encode())
	d.hash = h
	return err
}

// equal compares the fields a listing stores.
func (d *dir) equal(o *dir) bool {
	if len(d.nodes) != len(o.nodes) || (d.self == nil) != (o.self == nil) || d.self != nil && *d.self != *o.self {
		return false
	}
	for i := range d.nodes {
		if d.nodes[i].name != o.nodes[i].name || d.nodes[i].Entry != o.nodes[i].Entry {
			return false
		}
	}
	return true
}

func (d *dir) encode() []byte {
	b := append(make([]byte, 0, 64*len(d.nodes)+32), listingMagic...)
	if d.self != nil {
		b = appendEntry(appendText(b, rootName), *d.self)
	}
	for i := range d.nodes {
		b = appendEntry(appendText(b, d.nodes[i].name), d.nodes[i].Entry)
	}
	return b
}

// hasAttrs is set in the kind of an entry with attributes.
const hasAttrs = 0x80

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendEntry(b []byte, e Entry) []byte {
	kind := byte(e.Kind)
	if e.Attrs != "" {
		kind |= hasAttrs
	}
	b = append(b, kind)
	b = binary.AppendUvarint(b, uint64(e.Mode))
	b = binary.AppendUvarint(b, uint64(e.Size))
	if e.Kind == File || e.Kind == Folder {
		b = append(b, e.Hash[:]...)
	}
	b = appendText(appendText(b, e.Target), "") // an older adze stores a hard-linked file's first name there
	if e.Attrs != "" {
		b = appendText(b, e.Attrs)
	}
	return b
}

type entry struct {
	Entry
	name string
}

// openListing opens a folder's listing. For other entries it returns an empty one.
func (w *Workspace) openListing(e Entry) (*reader, error) {
	if e.Kind != Folder {
		return &reader{}, nil
	}
	b, err := w.store.Get(e.Hash)
	if err != nil {
		return nil, err
	}
	r := &reader{b: b}
	if string(r.take(len(listingMagic))) != listingMagic {
		return nil, fmt.Errorf("%s is no listing of a folder", e.Hash)
	}
	return r, nil
}

func (w *Workspace) listing(h pack.Hash) ([]entry, error) {
	r, err := w.openListing(Entry{Kind: Folder, Hash: h})
	if err != nil {
		return nil, err
	}
	var all []entry
	for l, ok := r.next(); ok; l, ok = r.next() {
		all = append(all, l)
	}
	if r.bad {
		return nil, fmt.Errorf("%s is a damaged listing", h)
	}
	return all, nil
}

// outerGit is the name under which an older adze stored a git folder outside the workspace.
const outerGit = tempPrefix + "git"

// next returns the next entry, or false at the end or at damage.
func (r *reader) next() (entry, bool) {
	if len(r.b) == 0 || r.bad {
		return entry{}, false
	}
	name := r.text()
	e := r.entry()
	if name == outerGit {
		return r.next()
	}
	return entry{e, name}, !r.bad
}

// reader decodes a stored listing. bad is set at missing bytes.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) text() string { return string(r.take(int(min(r.number(), 1<<30)))) }

func (r *reader) entry() (e Entry) {
	var attrs bool
	if b := r.take(1); b != nil {
		e.Kind, attrs = Kind(b[0]&^hasAttrs), b[0]&hasAttrs != 0
	}
	e.Mode = uint32(r.number())
	e.Size = int64(r.number())
	if e.Kind == File || e.Kind == Folder {
		copy(e.Hash[:], r.take(len(e.Hash)))
	}
	e.Target = r.text()
	r.text()
	if attrs {
		e.Attrs = r.text()
	}
	return e
}
