package sessiondb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
	"unsafe"

	"adze/session"
)

// link is a chain's end: an entry's sequence number and hash. The zero link precedes the first
// entry.
type link struct {
	seq  int64
	hash []byte
}

type row struct {
	seq  int64
	kind string
	time int64
	data string // as stored: with names in place of large texts
	hash []byte
	text []text // the large texts
}

// newRow shares its data with the entry, which must not change: copying a long answer is expensive.
func newRow(id session.ID, before link, e session.Entry) row {
	data := unsafe.String(unsafe.SliceData(e.Data), len(e.Data))
	r := row{seq: before.seq + 1, kind: string(e.Type), time: Nanos(e.Time)}
	r.data, r.text = apart(data)
	r.hash = r.sum(id, before.hash)
	return r
}

// sum hashes every field with its length first, so bytes cannot move between fields.
func (r row) sum(id session.ID, before []byte) []byte {
	h := sha256.New()
	var n [8]byte
	var piece [4 << 10]byte
	number := func(v int64) {
		binary.BigEndian.PutUint64(n[:], uint64(v))
		h.Write(n[:])
	}
	text := func(s string) {
		number(int64(len(s)))
		for len(s) > 0 { // in pieces: avoids a copy of a long answer
			n := copy(piece[:], s)
			h.Write(piece[:n])
			s = s[n:]
		}
	}
	text(string(before))
	text(string(id))
	number(r.seq)
	text(r.kind)
	number(r.time)
	text(r.data)
	return h.Sum(nil)
}

// Nanos returns nanoseconds since 1970, and 0 for the zero time.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// FromNanos is the inverse of Nanos.
func FromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// A BadRow is a session's first entry that differs from its hash or is missing.
type BadRow struct {
	Session session.ID
	Seq     int64 // from 1
	Reason  string
}

func (b *BadRow) Error() string {
	return fmt.Sprintf("session %s: entry %d %s", b.Session, b.Seq, b.Reason)
}

// Verify checks the chain of id and returns the number of valid entries. The error is a *BadRow for
// the first invalid one, or wraps session.ErrNotFound for an unknown session.
func (s *Store) Verify(ctx context.Context, id session.ID) (int, error) {
	c, err := s.follow(ctx, id, nil)
	switch {
	case c == nil:
		return 0, err
	case err != nil:
		return int(c.last.seq), err
	}
	if bad := c.end(); bad != nil {
		return int(bad.Seq - 1), bad
	}
	return int(c.last.seq), nil
}
