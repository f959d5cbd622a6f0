package sign

import "encoding/binary"

// leaf is a text that is needed, and the blocks that may hold it, a bit each.
type leaf struct {
	grams  []uint32
	blocks []uint64
}

// leaves lists what a need asks of blocks.
func (n *Need) leaves(all map[*Need]*leaf) {
	for _, sub := range n.all {
		sub.leaves(all)
	}
	for _, sub := range n.any {
		sub.leaves(all)
	}
	if n.grams != nil {
		all[n] = &leaf{grams: n.grams}
	}
}

// held looks through the sets of all blocks, in their order and once: what lies behind is given
// back on the way, so that a table takes no more memory than a piece of it.
func (t *Table) held(n *Need) map[*Need]*leaf {
	leaves := map[*Need]*leaf{}
	n.leaves(leaves)
	var all []*leaf
	for _, l := range leaves {
		l.blocks = make([]uint64, t.h.blocks/64+1)
		all = append(all, l)
	}
	from, given := uint32(0), uint32(0)
	for b := range t.h.blocks {
		end := binary.LittleEndian.Uint32(t.ends[4*b:])
		set := t.sets[from:end]
		for _, l := range all {
			if holds(set, l.grams) {
				l.blocks[b>>6] |= 1 << (b & 63)
			}
		}
		if from = end; end-given >= pieceSize {
			t.release(headerSize+int(given), headerSize+int(end))
			given = end
		}
	}
	t.release(headerSize+int(given), headerSize+int(from))
	return leaves
}

// pieceSize is how much of a table's sets is in memory at once while they are looked through, in
// bytes.
const pieceSize = 1 << 20

// release tells the system that a part of the map need not be in memory.
func (t *Table) release(from, to int) {
	if t.mapped {
		forget(t.data, from, to)
	}
}

func (l *leaf) has(b uint32) bool { return l.blocks[b>>6]&(1<<(b&63)) != 0 }

// any reports whether one of a file's blocks is among those of a leaf.
func (l *leaf) any(r record) bool {
	for b := r.first; b < r.first+uint32(r.blocks); b++ {
		if l.has(b) {
			return true
		}
	}
	return false
}

// meets reports whether a file may hold what is needed.
func (n *Need) meets(held map[*Need]*leaf, r record) bool {
	for _, sub := range n.all {
		if !sub.meets(held, r) {
			return false
		}
	}
	for _, sub := range n.any {
		if sub.meets(held, r) {
			return true
		}
	}
	return n.any == nil && (n.grams == nil || held[n].any(r))
}
