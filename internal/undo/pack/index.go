package pack

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"

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

// writeIndex writes an index of the good records.
func (s *Store) writeIndex(f *file, path string) error {
	b := append(make([]byte, 0, indexHead+indexRec*len(f.recs)+4), indexMagic+"\x00\x00\x00\x00"...)
	b = binary.LittleEndian.AppendUint64(b, uint64(f.end))
	b = binary.LittleEndian.AppendUint64(b, 0)
	all := f.entries()
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare(a.hash[:], b.hash[:]) }) // an older adze searches them
	for _, e := range all {
		if !s.bad[e.place] {
			b = append(b, e.hash[:]...)
			b = binary.LittleEndian.AppendUint64(b, uint64(e.offset))
			b = binary.LittleEndian.AppendUint64(b, uint64(e.stored))
		}
	}
	binary.LittleEndian.PutUint64(b[16:], uint64((len(b)-indexHead)/indexRec))
	b = binary.LittleEndian.AppendUint32(b, crc(b))
	return atomicfile.WriteCache(path, b)
}

// readIndex takes the records of a usable index: it belongs to this pack if its last record is
// there.
func (f *file) readIndex(path string, size int64) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < indexHead+4 || string(b[:4]) != indexMagic {
		return
	}
	body := b[:len(b)-4]
	end, count := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	if crc(body) != binary.LittleEndian.Uint32(b[len(b)-4:]) || end > uint64(size) || count != uint64(len(body)-indexHead)/indexRec ||
		(len(body)-indexHead)%indexRec != 0 {
		return
	}
	recs, last := make(map[Hash]place, count), entry{place: place{offset: -1}}
	for r := range slices.Chunk(body[indexHead:], indexRec) {
		e := entry{Hash(r[:32]), place{f.num, int64(binary.LittleEndian.Uint64(r[32:])), int64(binary.LittleEndian.Uint64(r[40:]))}}
		recs[e.hash] = e.place
		if e.offset > last.offset {
			last = e
		}
	}
	if h, ok := headAt(f, last.offset, int64(end)); ok && h.hash == last.hash && h.stored == last.stored {
		f.recs, f.end, f.indexed = recs, int64(end), int64(end)
	}
}
