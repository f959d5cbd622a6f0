//go:build unix

package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"adze/internal/sandbox/overlay/entry"
)

// errIndex says that an index cannot be compared.
var errIndex = errors.New("this index cannot be read")

// indexEntry is what is staged of one path.
type indexEntry struct {
	path string
	mode uint32
	rest string // its object, and in which stage it is
}

// gitlink reports the commit of a submodule.
func (e indexEntry) gitlink() bool { return e.mode&0o170000 == 0o160000 }

// maxIndex bounds an index that is compared, in bytes.
const maxIndex = 256 << 20

func readIndex(path string) ([]indexEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readIndexFile(f)
}

// readIndexFile lists what is staged (gitformat-index(5)): of each entry its mode, object, flags
// and path, without what git remembers of the file to see whether it changed.
func readIndexFile(f *os.File) (out []indexEntry, err error) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, maxIndex))
	if err != nil {
		return nil, err
	}
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, errIndex
	}
	const fixed = 62
	rest, last := data[12:], []byte(nil)
	for range count {
		if len(rest) < fixed {
			return nil, errIndex
		}
		mode, object, flags := rest[24:28], rest[40:60], rest[60:62]
		at := fixed
		var more []byte
		if flags[0]&0x40 != 0 {
			if len(rest) < fixed+2 {
				return nil, errIndex
			}
			more, at = rest[fixed:fixed+2], fixed+2
		}
		var path []byte
		if version == 4 {
			drop, n := offset(rest[at:])
			if n == 0 || drop > len(last) {
				return nil, errIndex
			}
			at += n
			path = last[:len(last)-drop]
		}
		end := bytes.IndexByte(rest[at:], 0)
		if end < 0 {
			return nil, errIndex
		}
		path = append(bytes.Clone(path), rest[at:at+end]...)
		at += end + 1
		if version < 4 {
			at = (at + 7) &^ 7
		}
		if at > len(rest) {
			return nil, errIndex
		}
		// Of the flags those count that say in which stage the entry is, and what git must not look
		// at.
		out = append(out, indexEntry{string(path), binary.BigEndian.Uint32(mode), string(object) + string([]byte{flags[0] & 0xb0}) + string(more)})
		rest, last = rest[at:], path
	}
	if bytes.Contains(rest[:min(len(rest), 4)], []byte("link")) {
		return nil, errIndex // a part of it is in another file
	}
	return out, nil
}

// offset reads a number as packs have it, and the bytes that it takes.
func offset(b []byte) (value, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		value = value<<7 | int(c&0x7f)
		n++
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}

// statOf is what overlays know of a path.
func statOf(path string) (entry.Stat, error) { return entry.StatOf(path) }
