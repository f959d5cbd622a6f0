package pack

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"sort"

	"adze/internal/osfile/atomicfile"
)

// An index lists the positions of a pack's records, so the pack need not be read: magic 4, zero 4,
// end of the indexed part 8, number of records 8, then for each record, sorted by hash, hash 32,
// offset 8 and stored length 8; crc32c 4. Little-endian. It is written after the pack was synced,
// and is only a cache.
const (
	indexMagic = "aZi1"
	indexHead  = 24
	indexRec   = 48
)

type index struct {
	end  int64
	recs []byte
}

func (x index) len() int { return len(x.recs) / indexRec }

func (x index) rec(i int) []byte { return x.recs[i*indexRec : (i+1)*indexRec] }

func (x index) hash(i int) (h Hash) {
	copy(h[:], x.rec(i))
	return h
}

func (x index) place(i, num int) place {
	r := x.rec(i)
	return place{num, int64(binary.LittleEndian.Uint64(r[32:])), int64(binary.LittleEndian.Uint64(r[40:]))}
}

// find returns a hash's number, or -1.
func (x index) find(h Hash) int {
	i := sort.Search(x.len(), func(i int) bool { return bytes.Compare(x.rec(i)[:32], h[:]) >= 0 })
	if i < x.len() && bytes.Equal(x.rec(i)[:32], h[:]) {
		return i
	}
	return -1
}

type entry struct {
	hash Hash
	place
}

// makeIndex returns the index of a pack read up to end.
func makeIndex(all []entry, end int64) index {
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	x := index{end, make([]byte, 0, indexRec*len(all))}
	for _, e := range all {
		x.recs = append(x.recs, e.hash[:]...)
		x.recs = binary.LittleEndian.AppendUint64(x.recs, uint64(e.offset))
		x.recs = binary.LittleEndian.AppendUint64(x.recs, uint64(e.stored))
	}
	return x
}

func (x index) write(path string) error {
	b := append(make([]byte, 0, indexHead+len(x.recs)+4), indexMagic+"\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint64(b, uint64(x.end))
	b = binary.LittleEndian.AppendUint64(b, uint64(x.len()))
	b = append(b, x.recs...)
	b = binary.LittleEndian.AppendUint32(b, crc(b))
	return atomicfile.WriteCache(path, b)
}

// of reports whether the index belongs to this pack: its last record is there.
func (x index) of(f *os.File) bool {
	last := entry{place: place{offset: -1}}
	for i := range x.len() {
		if p := x.place(i, 0); p.offset > last.offset {
			last = entry{x.hash(i), p}
		}
	}
	h, ok := headAt(f, last.offset, x.end)
	return ok && h.hash == last.hash && h.stored == last.stored
}

// readIndex returns the index of a pack of this size, or an empty one if none is usable.
func readIndex(path string, size int64) index {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < indexHead+4 || string(b[:4]) != indexMagic {
		return index{}
	}
	body := b[:len(b)-4]
	end, count := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	if crc(body) != binary.LittleEndian.Uint32(b[len(b)-4:]) || end > uint64(size) || count != uint64(len(body)-indexHead)/indexRec ||
		(len(body)-indexHead)%indexRec != 0 {
		return index{}
	}
	return index{int64(end), body[indexHead:]}
}
