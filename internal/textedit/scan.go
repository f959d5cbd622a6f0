package textedit

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	scanBlock = 1 << 20
	scanHits  = 1 << 20 // places kept of one needle
)

// Hit is a place in a file.
type Hit struct {
	Off  int64
	Line int // newline bytes before it
}

// Scan finds the places of a needle in a file without holding the file: one block and the needle are in memory. Places
// may overlap. unit is the size of a character: only multiples of it count.
func Scan(ctx context.Context, r io.ReaderAt, needle []byte, unit int) ([]Hit, error) {
	var hits []Hit
	buf := make([]byte, scanBlock+len(needle)-1)
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
		counted := 0
		for at := 0; ; {
			i := bytes.Index(part[at:], needle)
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
