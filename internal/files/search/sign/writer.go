package sign

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"time"
)

// MaxFile is the largest file that is signed: few are larger, and those are always read.
const MaxFile = 16 << 20

// Writer makes a table. Not for concurrent use.
type Writer struct {
	h       header
	f       *os.File
	out     *bufio.Writer
	sum     uint32
	ends    []uint32
	lines   []lines // as many
	records []record
	signer  signer
	buf     []byte
	err     error
}

// newWriter begins a table in an empty file.
func newWriter(f *os.File, at Place, now time.Time) *Writer {
	var random [16]byte
	_, err := rand.Read(random[:])
	w := &Writer{f: f, out: bufio.NewWriterSize(f, 64<<10), buf: make([]byte, 64<<10+overlap), err: err}
	w.h = header{place: at.sum(), made: now, key: key{binary.LittleEndian.Uint64(random[:]), binary.LittleEndian.Uint64(random[8:])}}
	w.write(make([]byte, headerSize))
	w.sum = 0
	return w
}

// write adds to the table and its sum.
func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
		w.sum = crc32.Update(w.sum, castagnoli(), b)
	}
}

// Full reports that nothing more can be taken in: what is left of the tree is always read.
func (w *Writer) Full() bool {
	return w.err != nil || w.h.sets > maxSets-MaxFile || len(w.records) >= maxFiles || uint64(len(w.ends)) > math.MaxUint32-2*MaxFile/blockSize
}

// Keep takes over what a table knows of a file in a state; if false, it knows nothing.
func (w *Writer) Keep(t *Table, s State) (kept bool) {
	if t == nil || w.Full() {
		return false
	}
	defer guard(&kept)()
	at := t.find(t.h.key.name(s))
	if at < 0 {
		return false
	}
	r := t.records[at]
	first := uint32(len(w.ends))
	for b := r.first; b < r.first+uint32(r.blocks); b++ {
		w.set(t.set(b), t.lines[b])
	}
	w.add(s, record{first: first, blocks: r.blocks, flags: r.flags})
	return true
}

func (w *Writer) add(s State, r record) {
	r.name = w.h.key.name(s)
	w.records = append(w.records, r)
}

// set adds a block.
func (w *Writer) set(b []byte, l lines) {
	w.write(b)
	w.h.sets += uint64(len(b))
	w.ends, w.lines = append(w.ends, uint32(w.h.sets)), append(w.lines, l)
}

// Binary enters a file that is no text.
func (w *Writer) Binary(s State) {
	if !w.Full() {
		w.add(s, record{flags: flagBinary})
	}
}

// Sign reads a file and holds its signature; Add enters it. An error is r's.
func (w *Writer) Sign(r io.Reader) (Signed, error) {
	s := Signed{first: uint32(len(w.ends))}
	text, end := w.buf[:0], false
	for !end {
		n, err := io.ReadFull(r, w.buf[len(text):])
		text = w.buf[:len(text)+n]
		if end = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !end {
			return s, err
		}
		if s.read = s.read || odd(text); s.read || w.Full() {
			s.read = true
			return s, nil
		}
		for len(text) >= blockSize+overlap || end && len(text) > 0 {
			w.set(w.signer.block(text[:min(len(text), blockSize+overlap)]), linesOf(text[:min(len(text), blockSize)]))
			text = text[min(len(text), blockSize):]
		}
		text = w.buf[:copy(w.buf, text)]
	}
	return s, nil
}

// Signed is a file that was read, and not yet entered.
type Signed struct {
	first uint32
	read  bool
}

// Add enters a file that was signed in a state, or one that is always to be read.
func (w *Writer) Add(s State, signed Signed) {
	if w.err != nil || len(w.records) >= maxFiles {
		return
	}
	if signed.read || s.Size > MaxFile {
		w.add(s, record{flags: flagRead})
		return
	}
	w.add(s, record{first: signed.first, blocks: uint16(uint32(len(w.ends)) - signed.first)})
}

// odd reports text that is searched in another form than it has here, or in which a character folds
// to one of ASCII.
func odd(text []byte) bool {
	return bytes.IndexByte(text, 0) >= 0 || bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) ||
		bytes.Contains(text, []byte(string(kelvin))) || bytes.Contains(text, []byte(string(longS)))
}

// finish writes what is left, and the header last: a table without it is none.
func (w *Writer) finish() error {
	slices.SortFunc(w.records, func(a, b record) int { return cmp.Compare(a.name, b.name) })
	w.records = slices.CompactFunc(w.records, func(a, b record) bool { return a.name == b.name })
	w.h.blocks, w.h.files = uint32(len(w.ends)), uint32(len(w.records))
	var b []byte
	for _, end := range w.ends {
		w.write(binary.LittleEndian.AppendUint32(b[:0], end))
	}
	for _, l := range w.lines {
		w.write(l.encode(b[:0]))
	}
	for _, r := range w.records {
		b = binary.LittleEndian.AppendUint64(b[:0], r.name)
		b = binary.LittleEndian.AppendUint32(b, r.first)
		b = binary.LittleEndian.AppendUint16(b, r.blocks)
		w.write(binary.LittleEndian.AppendUint16(b, r.flags))
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.h.body = w.sum; w.err == nil {
		_, w.err = w.f.WriteAt(w.h.encode(), 0)
	}
	return w.err
}
