package sessiondb

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"adze/session"
)

var _ session.Reader = (*Store)(nil)

// Stream calls each with all entries of id, oldest first, holding one in memory. It verifies the
// chain on the way; Verdict then returns the result.
func (s *Store) Stream(ctx context.Context, id session.ID, each func(session.Entry) error) error {
	c, err := s.follow(ctx, id, each)
	if err != nil {
		return err
	}
	if c.last.seq == 0 && c.bad == nil {
		return fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	verdict := c.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.verdicts == nil {
		s.verdicts = map[session.ID]*BadRow{}
	}
	s.verdicts[id] = verdict
	return nil
}

// follow checks the chain of id: to its end with each, which gets all entries, else to the first
// invalid one.
func (s *Store) follow(ctx context.Context, id session.ID, each func(session.Entry) error) (*chainCheck, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	c, err := s.check(ctx, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.stream(ctx, "SELECT seq, type, time, data, hash FROM entries WHERE session = ? ORDER BY seq", c.num)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() && (each != nil || c.bad == nil) {
		var r row
		var data, hash sql.RawBytes
		if err := rows.Scan(&r.seq, &r.kind, &r.time, &data, &hash); err != nil {
			return c, fmt.Errorf("%w: %w", ErrDamaged, &BadRow{id, c.last.seq + 1, "cannot be read: " + err.Error()})
		}
		r.data, r.hash = unsafe.String(unsafe.SliceData(data), len(data)), hash
		if c.link(ctx, r, rows.texts); each == nil {
			continue
		}
		whole, err := rows.texts.whole(ctx, data)
		if err != nil {
			return c, s.explain("read", err)
		}
		if err := each(session.Entry{Type: session.EntryType(r.kind), Time: FromNanos(r.time), Data: whole}); err != nil {
			return c, err
		}
	}
	if err := rows.Err(); err != nil {
		return c, s.explain("read", err)
	}
	return c, nil
}

// Verdict returns the first invalid entry of id found by the last Stream, or nil if all are valid.
// Without a Stream it runs Verify.
func (s *Store) Verdict(ctx context.Context, id session.ID) *BadRow {
	s.mu.Lock()
	bad, known := s.verdicts[id]
	s.mu.Unlock()
	if !known {
		_, err := s.Verify(ctx, id)
		errors.As(err, &bad) // loading reports an unreadable session
	}
	return bad
}

// Back calls each with id's entries of the given types, newest first, until it returns false.
func (s *Store) Back(ctx context.Context, id session.ID, types []session.EntryType, each func(session.Entry) (more bool)) error {
	if err := s.usable(); err != nil {
		return err
	}
	args := []any{string(id)}
	for _, t := range types {
		args = append(args, string(t))
	}
	enough := errors.New("enough was read")
	query := `SELECT '', seq, type, time, data FROM entries WHERE session = (SELECT num FROM sessions WHERE id = ?)
		AND type IN (?` + strings.Repeat(", ?", len(types)-1) + ") ORDER BY seq DESC"
	err := read(s.stream(ctx, query, args...)).each(ctx, func(f ScanResult) error {
		if each(f.Entry) {
			return nil
		}
		return enough
	})
	if err == enough {
		return nil
	}
	return err
}

// chainCheck follows a chain from its start.
type chainCheck struct {
	id    session.ID
	num   int64
	want  link // from the sessions row
	last  link // the last valid one
	sound map[textName]bool
	bad   *BadRow // the first invalid entry, or nil so far
}

// check starts checking the chain of id.
func (s *Store) check(ctx context.Context, id session.ID) (*chainCheck, error) {
	c := &chainCheck{id: id, sound: map[textName]bool{}}
	err := s.db.QueryRowContext(ctx, "SELECT num, entries, tip FROM sessions WHERE id = ?", string(id)).Scan(&c.num, &c.want.seq, &c.want.hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	if err != nil {
		return nil, s.explain("read", err)
	}
	return c, nil
}

// link checks the next entry, whose data and hash may be borrowed. Entries after a bad one are not
// checked.
func (c *chainCheck) link(ctx context.Context, r row, texts *texts) {
	switch {
	case c.bad != nil:
		return
	case r.seq != c.last.seq+1:
		c.bad = &BadRow{c.id, c.last.seq + 1, "is missing"}
		return
	case !bytes.Equal(r.hash, r.sum(c.id, c.last.hash)):
		c.bad = &BadRow{c.id, r.seq, "does not fit its hash: it was changed, or stood elsewhere"}
		return
	}
	for _, n := range names(unsafe.Slice(unsafe.StringData(r.data), len(r.data))) {
		if c.sound[n.textName] {
			continue
		}
		if _, err := texts.read(ctx, n.textName); err != nil {
			c.bad = &BadRow{c.id, r.seq, fmt.Sprintf("names a text of %d bytes that is missing or was changed", n.size)}
			return
		}
		c.sound[n.textName] = true
	}
	c.last.seq, c.last.hash = r.seq, append(c.last.hash[:0], r.hash...)
}

func (c *chainCheck) end() *BadRow {
	switch {
	case c.bad != nil:
	case c.last.seq < c.want.seq:
		c.bad = &BadRow{c.id, c.last.seq + 1, "is missing"}
	case c.last.seq > c.want.seq:
		c.bad = &BadRow{c.id, c.want.seq + 1, "is more than was written"}
	case !bytes.Equal(c.last.hash, c.want.hash):
		c.bad = &BadRow{c.id, c.last.seq, "is not the last one that was written"}
	}
	return c.bad
}
