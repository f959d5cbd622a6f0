package sign

import (
	"bytes"
	"encoding/binary"
)

// lines is where the lines of a block lie: how many line breaks are in it, and the places behind
// the first and the last; if 0, it has none.
type lines struct{ breaks, first, last uint16 }

func linesOf(text []byte) lines {
	return lines{
		breaks: uint16(bytes.Count(text, []byte{'\n'})),
		first:  uint16(bytes.IndexByte(text, '\n') + 1),
		last:   uint16(bytes.LastIndexByte(text, '\n') + 1),
	}
}

func (l lines) encode(b []byte) []byte {
	for _, v := range [...]uint16{l.breaks, l.first, l.last} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func decodeLines(b []byte) lines {
	return lines{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]), binary.LittleEndian.Uint16(b[4:])}
}

// Part is a piece of a file, of whole lines.
type Part struct {
	From, To int64
	Lines    int // in front of it
}

// Long reports that a file which is to be read has more than one block as far as its mark tells, so
// that to ask for its Parts may save something.
func (r *Rejects) Long(m Mark) bool {
	at := r.marked(m)
	return at >= 0 && r.t.records[at].blocks > 1
}

// leastLeft: at least one of so many blocks of a file has to be left out, or reading all of it at
// once costs less.
const leastLeft = 4

// Parts are those of a file in a state that may hold a match within a line, in order. Without any,
// all of it has to be read.
func (r *Rejects) Parts(s State) []Part {
	at := r.t.find(r.t.h.key.name(s))
	if at < 0 || r.has(at) || r.need == nil {
		return nil
	}
	rec := r.t.records[at]
	if rec.blocks < 2 || int64(rec.blocks) != (s.Size+blockSize-1)/blockSize {
		return nil
	}
	may := r.need.blocks(r.held, rec)
	if left := len(may) - count(may); left*leastLeft < len(may) {
		return nil
	}
	return cut(may, r.t.lines[rec.first:], s.Size)
}

// blocks says of a file's blocks which ones a line with what is needed lies in, or reaches into.
func (n *Need) blocks(held map[*Need]*leaf, r record) []bool {
	may := make([]bool, r.blocks)
	if n.grams != nil {
		for i := range may {
			may[i] = held[n].has(r.first + uint32(i))
		}
	}
	for _, sub := range n.any {
		for i, b := range sub.blocks(held, r) {
			may[i] = may[i] || b
		}
	}
	// A line that has all of some things reaches into a block of each: the fewest blocks will do.
	for i, sub := range n.all {
		if other := sub.blocks(held, r); i == 0 || count(other) < count(may) {
			may = other
		}
	}
	return may
}

func count(may []bool) (n int) {
	for _, b := range may {
		if b {
			n++
		}
	}
	return n
}

// cut picks the lines that reach into blocks which may hold a match.
func cut(may []bool, of []lines, size int64) (parts []Part) {
	begins, open := int64(0), false // of the line at the start of the block; the last part ends with the line in hand
	for i, before := 0, 0; i < len(may); i++ {
		l, at, last := of[i], int64(i)*blockSize, len(parts)-1
		if open && l.first > 0 {
			parts[last].To, open = at+int64(l.first), false
		}
		if may[i] {
			if !open && (last < 0 || parts[last].To < begins) {
				parts = append(parts, Part{From: begins, Lines: before})
				last++
			}
			parts[last].To, open = at+int64(l.last), l.last != blockSize
		}
		before += int(l.breaks)
		if l.last > 0 {
			begins = at + int64(l.last)
		}
	}
	if open {
		parts[len(parts)-1].To = size
	}
	return parts
}
