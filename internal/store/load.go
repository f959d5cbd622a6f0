package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"adze/session"
)

func (s *Store) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	return nil
}

// Load returns all entries of id, oldest first. It does not check the chain; Verify does.
func (s *Store) Load(ctx context.Context, id session.ID) ([]session.Entry, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx,
		"SELECT type, time, data FROM entries WHERE session = (SELECT num FROM sessions WHERE id = ?) ORDER BY seq", string(id))
	if err != nil {
		return nil, s.explain("read", err)
	}
	defer rows.Close()
	var out []session.Entry
	for rows.Next() {
		var e session.Entry
		var at int64
		var data []byte
		if err := rows.Scan(&e.Type, &at, &data); err != nil {
			return nil, fmt.Errorf("%w: session %s, entry %d: %w", ErrDamaged, id, len(out)+1, err)
		}
		e.Time, e.Data = fromNanos(at), json.RawMessage(data)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, s.explain("read", err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	return out, nil
}

// List returns the sessions, last used first. Long strings in Head.Start and Head.First are cut.
func (s *Store) List(ctx context.Context) ([]session.Head, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `SELECT id, created, updated, entries, start, first
		FROM sessions LEFT JOIN openings ON session = num ORDER BY updated DESC, num DESC`)
	if err != nil {
		return nil, s.explain("read", err)
	}
	defer rows.Close()
	var out []session.Head
	for rows.Next() {
		var h session.Head
		var created, updated int64
		var start, first sql.RawBytes
		if err := rows.Scan(&h.ID, &created, &updated, &h.Entries, &start, &first); err != nil {
			return nil, s.explain("read", err)
		}
		h.Created, h.Updated = fromNanos(created), fromNanos(updated)
		h.Start, h.First = raw(start), raw(first)
		out = append(out, h)
	}
	if err := rows.Err(); err != nil {
		return nil, s.explain("read", err)
	}
	return out, nil
}

// raw copies what the driver lends; nothing stays nil.
func raw(b sql.RawBytes) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	return append(json.RawMessage(nil), b...)
}
