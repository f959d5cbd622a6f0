package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/s2"
)

// A record is a head and a payload. The head: magic 4, codec 1, zero 3, raw length 8, stored length
// 8, SHA-256 of the content 32, crc32c of the payload 4, crc32c of the head so far 4;
// little-endian.
const (
	magic    = "aZp1"
	headSize = 64
)

const (
	codecRaw = 0
	codecS2  = 1
)

type head struct {
	codec  byte
	raw    int64
	stored int64
	hash   Hash
	crc    uint32
}

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// encode returns a content's record. Contents that compression does not shrink are stored as they
// are.
func encode(h Hash, content []byte) []byte {
	rec := make([]byte, headSize+max(len(content), s2.MaxEncodedLen(len(content))))
	codec := byte(codecS2)
	n := len(s2.Encode(rec[headSize:], content))
	if n >= len(content) {
		codec, n = codecRaw, copy(rec[headSize:], content)
	}
	rec = rec[:headSize+n]
	copy(rec, magic)
	rec[4] = codec
	binary.LittleEndian.PutUint64(rec[8:], uint64(len(content)))
	binary.LittleEndian.PutUint64(rec[16:], uint64(n))
	copy(rec[24:], h[:])
	binary.LittleEndian.PutUint32(rec[56:], crc(rec[headSize:]))
	binary.LittleEndian.PutUint32(rec[60:], crc(rec[:60]))
	return rec
}

func parseHead(b []byte) (h head, ok bool) {
	if len(b) < headSize || string(b[:4]) != magic || binary.LittleEndian.Uint32(b[60:]) != crc(b[:60]) {
		return h, false
	}
	h.codec = b[4]
	h.raw = int64(binary.LittleEndian.Uint64(b[8:]))
	h.stored = int64(binary.LittleEndian.Uint64(b[16:]))
	copy(h.hash[:], b[24:])
	h.crc = binary.LittleEndian.Uint32(b[56:])
	return h, h.raw >= 0 && h.raw <= MaxContent && h.stored >= 0 && h.stored <= h.raw && h.codec <= codecS2
}

// readPayload reads and verifies the payload after a head.
func readPayload(f io.ReaderAt, at int64, h head) ([]byte, error) {
	b := make([]byte, h.stored)
	if _, err := f.ReadAt(b, at+headSize); err != nil && h.stored > 0 {
		return nil, errors.Join(ErrDamaged, err)
	}
	if crc(b) != h.crc {
		return nil, ErrDamaged
	}
	return b, nil
}

// readRecord returns the content of the record at an offset, which must have the wanted hash.
func readRecord(f io.ReaderAt, at int64, want Hash) ([]byte, error) {
	var b [headSize]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return nil, errors.Join(ErrDamaged, err)
	}
	h, ok := parseHead(b[:])
	if !ok || h.hash != want {
		return nil, ErrDamaged
	}
	content, err := readPayload(f, at, h)
	if err != nil {
		return nil, err
	}
	if h.codec == codecS2 {
		if n, err := s2.DecodedLen(content); err != nil || int64(n) != h.raw {
			return nil, ErrDamaged
		}
		if content, err = s2.Decode(nil, content); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	if Sum(content) != want {
		return nil, ErrDamaged
	}
	return content, nil
}
