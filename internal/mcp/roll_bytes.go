package mcp

import "encoding/binary"

// writer appends texts with their lengths before them.
type writer []byte

func (w *writer) number(n uint64) { *w = binary.AppendUvarint(*w, n) }

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	*w = append(*w, s...)
}

func (w *writer) flag(v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	w.number(n)
}

// leaf writes whether there is one, and what it has.
func (w *writer) leaf(l *leaf) {
	if w.flag(l != nil); l == nil {
		return
	}
	w.text(l.Protocol)
	w.text(l.More)
	w.flag(l.Prompts)
	w.flag(l.Resources)
	w.number(uint64(len(l.Tools)))
	for _, t := range l.Tools {
		w.text(t.Name)
		w.text(t.Shown)
		w.text(t.Digest)
		w.text(t.Bad)
		w.number(uint64(t.At))
		w.number(uint64(t.Size))
		w.text(t.Sum)
	}
}

// reader reads them. After something that cannot be read, all is empty.
type reader struct {
	raw []byte
	bad bool
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.raw)
	if size <= 0 {
		r.raw, r.bad = nil, true
		return 0
	}
	r.raw = r.raw[size:]
	return n
}

// bytes are a part of what is read, and not a copy.
func (r *reader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.raw)) {
		r.raw, r.bad = nil, true
		return nil
	}
	out := r.raw[:n:n]
	r.raw = r.raw[n:]
	return out
}

func (r *reader) text() string { return string(r.bytes()) }
func (r *reader) flag() bool   { return r.number() == 1 }

// leaf reads what follows the word that there is one.
func (r *reader) leaf() *leaf {
	l := &leaf{Protocol: r.text(), More: r.text(), Prompts: r.flag(), Resources: r.flag()}
	n := r.number()
	if n > uint64(len(r.raw)) { // each takes some bytes
		r.raw, r.bad = nil, true
		return l
	}
	l.Tools = make([]leafTool, n)
	for i := range l.Tools {
		l.Tools[i] = leafTool{Name: r.text(), Shown: r.text(), Digest: r.text(), Bad: r.text(), At: int64(r.number()), Size: int(r.number()), Sum: r.text()}
	}
	return l
}
