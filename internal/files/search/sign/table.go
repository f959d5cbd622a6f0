package sign

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"time"
)

// A table is one file: header, sets of all blocks one after another, where each set ends (4 bytes
// each), where the lines of each block lie (6 bytes each), and the files by their names (16 bytes
// each). All numbers are little-endian.
const (
	magic      = "adzesig2"
	headerSize = 72
	linesSize  = 6
	recordSize = 16
	// maxSets bounds the sets of one table, in bytes.
	maxSets = 128 << 20
	// maxFiles bounds its files.
	maxFiles = 2 << 20
)

// Place is the folder that a table is about.
type Place struct {
	Path          string
	Device, Inode uint64
}

func (p Place) sum() uint64 {
	return key{p.Device, p.Inode}.name(State{Inode: uint64(crc32.Checksum([]byte(p.Path), castagnoli())), Size: int64(len(p.Path))})
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// header is the beginning of a table. Its sum covers it and all that follows.
type header struct {
	key           key
	place         uint64
	made          time.Time
	sets          uint64 // bytes
	whole         uint64 // 1: the whole tree was looked at
	blocks, files uint32
	body          uint32
}

func (h header) encode() []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, magic...)
	for _, v := range [...]uint64{h.key[0], h.key[1], h.place, uint64(h.made.UnixNano()), h.sets, h.whole} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, h.blocks)
	b = binary.LittleEndian.AppendUint32(b, h.files)
	b = binary.LittleEndian.AppendUint32(b, h.body)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

// errDamaged means that a table is not what was written.
var errDamaged = errors.New("the table of signatures is damaged")

// decode checks a header, but not the rest.
func decode(b []byte) (h header, err error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return h, errDamaged
	}
	at := len(magic)
	long := func() uint64 { at += 8; return binary.LittleEndian.Uint64(b[at-8:]) }
	short := func() uint32 { at += 4; return binary.LittleEndian.Uint32(b[at-4:]) }
	h.key = key{long(), long()}
	h.place, h.made, h.sets, h.whole = long(), time.Unix(0, int64(long())), long(), long()
	h.blocks, h.files, h.body = short(), short(), short()
	if crc32.Checksum(b[:at], castagnoli()) != short() || h.sets > maxSets || h.files > maxFiles {
		return h, errDamaged
	}
	return h, nil
}

// size is that of the whole table.
func (h header) size() int64 {
	return headerSize + int64(h.sets) + (4+linesSize)*int64(h.blocks) + recordSize*int64(h.files)
}

// Flags of a record.
const (
	// flagRead: the file is always to be read.
	flagRead = 1 << iota
	// flagBinary: it is, and its first block shows that it is no text.
	flagBinary
)

// record is one file of a table.
type record struct {
	name          uint64
	first         uint32 // block
	blocks, flags uint16
}

// Table is what is known of one folder. Safe for concurrent use.
type Table struct {
	h       header
	data    []byte // the whole file
	mapped  bool   // data is a map of it, of which parts may be forgotten
	sets    []byte
	ends    []byte
	lines   []lines  // of all blocks
	records []record // in the order of their names
}

// parse reads a table, whose bytes it keeps. mapped says that they are a map of the file.
func parse(data []byte, mapped bool, at Place) (*Table, error) {
	h, err := decode(data)
	if err != nil || h.size() != int64(len(data)) || h.place != at.sum() {
		return nil, errDamaged
	}
	t := &Table{data: data, mapped: mapped}
	if t.sum() != h.body {
		return nil, errDamaged
	}
	t = &Table{h: h, data: data, mapped: mapped, sets: data[headerSize:][:h.sets], ends: data[headerSize+h.sets:][:4*h.blocks]}
	rest := data[headerSize+h.sets+4*uint64(h.blocks):]
	t.lines, t.records = make([]lines, h.blocks), make([]record, h.files)
	for i := range t.lines {
		t.lines[i] = decodeLines(rest[i*linesSize:])
	}
	rest = rest[linesSize*len(t.lines):]
	for i := range t.records {
		b := rest[i*recordSize:]
		t.records[i] = record{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint16(b[12:]), binary.LittleEndian.Uint16(b[14:])}
	}
	return t, nil
}

// sum is that of all behind the header, taken piece by piece.
func (t *Table) sum() (sum uint32) {
	for from := headerSize; from < len(t.data); from += pieceSize {
		end := min(from+pieceSize, len(t.data))
		sum = crc32.Update(sum, castagnoli(), t.data[from:end])
		t.release(from, end)
	}
	return sum
}

// Files is how many the table knows.
func (t *Table) Files() int { return len(t.records) }

// Whole reports that all of the tree was looked at; else the making was aborted, and a search would
// ask in vain for most.
func (t *Table) Whole() bool { return t.h.whole == 1 }

// Full reports that there was no room for all of the tree.
func (t *Table) Full() bool { return t.h.sets > maxSets-MaxFile || len(t.records) >= maxFiles }

// Made is when it was made.
func (t *Table) Made() time.Time { return t.h.made }

// find returns the record of a state, or -1. Names are spread evenly, so the place is nearly known.
func (t *Table) find(name uint64) int {
	n := len(t.records)
	if n == 0 {
		return -1
	}
	low, high := t.around(name)
	at, ok := slices.BinarySearchFunc(t.records[low:high], name, func(r record, name uint64) int {
		switch {
		case r.name < name:
			return -1
		case r.name > name:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return low + at
}

// around bounds where a name may stand.
func (t *Table) around(name uint64) (low, high int) {
	n := len(t.records)
	guess := int(name >> 32 * uint64(n) >> 32)
	for step := 8; ; step *= 4 {
		low, high = max(0, guess-step), min(n, guess+step)
		if (low == 0 || t.records[low].name <= name) && (high == n || t.records[high-1].name >= name) {
			return low, high
		}
	}
}

// set is that of a block.
func (t *Table) set(block uint32) []byte {
	from := uint32(0)
	if block > 0 {
		from = binary.LittleEndian.Uint32(t.ends[4*(block-1):])
	}
	return t.sets[from:binary.LittleEndian.Uint32(t.ends[4*block:])]
}
