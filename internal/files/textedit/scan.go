package textedit

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	scanBlock = 1 << 20
	scanHits  = 1 << 20 // stored places for one needle
)

// A Hit is a place in a file.
type Hit struct {
	Offset int64
	Line   int // number of preceding newline bytes
}

// Scan finds a needle's places, which may overlap, with only one block and the needle in memory.
// unit is the character size in bytes: only its multiples count.
func Scan(ctx context.Context, r io.ReaderAt, needle []byte, unit int) ([]Hit, error) {
	var hits []Hit
	buf := make([]byte, scanBlock+len(needle)-1)
	find := finder{needle: needle}
	lines := 0
	for off := int64(0); ; off += scanBlock {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := r.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		part := buf[:n]
		if off == 0 {
			find.choose(part)
		}
		counted := 0
		for at := 0; ; {
			i := find.index(part[at:])
			if i < 0 || at+i >= scanBlock {
				break
			}
			at += i
			if (off+int64(at))%int64(unit) == 0 {
				lines += bytes.Count(part[counted:at], []byte{'\n'})
				counted = at
				if hits = append(hits, Hit{off + int64(at), lines}); len(hits) > scanHits {
					return nil, refuse(ManyMatches, "old_string occurs more than %d times; give more of the text around one place", scanHits)
				}
			}
			at++
		}
		if n < len(buf) {
			return hits, nil
		}
		lines += bytes.Count(part[counted:scanBlock], []byte{'\n'})
	}
}

// finder searches for a needle by its rarest byte, which is several times as fast as by a common
// first letter.
type finder struct {
	needle []byte
	rare   int // index in the needle
}

// choose counts the bytes in a sample.
func (f *finder) choose(sample []byte) {
	var often [256]int
	for _, c := range sample[:min(len(sample), 64<<10)] {
		often[c]++
	}
	for i, c := range f.needle {
		if often[c] < often[f.needle[f.rare]] {
			f.rare = i
		}
	}
}

func (f *finder) index(b []byte) int {
	misses := 0
	for at := 0; ; at++ {
		if at+len(f.needle) > len(b) {
			return -1
		}
		i := bytes.IndexByte(b[at+f.rare:], f.needle[f.rare])
		if i < 0 || at+i+len(f.needle) > len(b) {
			return -1
		}
		at += i
		if bytes.Equal(b[at:at+len(f.needle)], f.needle) {
			return at
		}
		if misses++; misses > 8+at/64 { // the byte is not rare here
			if i := bytes.Index(b[at+1:], f.needle); i >= 0 {
				return at + 1 + i
			}
			return -1
		}
	}
}
