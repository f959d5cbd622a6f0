package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/osfile/filelock"
	"adze/session"
)

// Entries never change. A session is only removed as a whole and leaves a tombstone; the database
// refuses to delete entries without one. Its text is erased from the files too: freed pages are
// overwritten, the log is truncated, and Scrub rewrites the database, because SQLite leaves copies
// in split pages.

// Reasons for removing a session.
const (
	ByHand = "person"
	ByRule = "retention"
)

// A Removed is a session's tombstone.
type Removed struct {
	ID      session.ID `json:"id"`
	Time    time.Time  `json:"time"` // of its removal
	Entries int        `json:"entries"`
	Reason  string     `json:"why"`
	// Num is the session's former number, never reused.
	Num int64 `json:"-"`
}

// Remove permanently removes sessions and those of their subagents: all or none. A session open
// here or elsewhere is session.ErrLocked, an unknown one session.ErrNotFound.
func (s Owner) Remove(ctx context.Context, why string, ids ...session.ID) ([]Removed, error) {
	return s.RemoveAfter(ctx, why, func([]Removed) {}, ids...)
}

// RemoveAfter is Remove, but calls first once removal is certain and the sessions still exist, so a
// process killed during first can repeat everything. first must not use the store.
func (s Owner) RemoveAfter(ctx context.Context, why string, first func([]Removed), ids ...session.ID) ([]Removed, error) {
	family, err := s.Family(ctx, ids...)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return nil, err
	}
	for _, id := range family {
		if s.writers[id] != nil {
			return nil, fmt.Errorf("%w: this one has %s", session.ErrLocked, id)
		}
		lock, err := s.acquire(id)
		if err != nil {
			return nil, err
		}
		defer (&writer{lock: lock}).release()
	}
	return s.remove(ctx, why, first, family)
}

// remove needs all locks.
func (s Owner) remove(ctx context.Context, why string, first func([]Removed), family []session.ID) (out []Removed, err error) {
	ctx = context.WithoutCancel(ctx)
	if _, err := s.db.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return nil, s.explain("remove from", err)
	}
	defer s.db.ExecContext(ctx, "PRAGMA secure_delete = OFF") // it slows appends down; no other harm if it stays on
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, s.explain("remove from", err)
	}
	defer tx.Rollback() // no effect after Commit
	for _, id := range family {
		r, err := s.removeOne(ctx, tx, why, id)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	first(out)
	if err := tx.Commit(); err != nil {
		return nil, s.explain("remove from", err)
	}
	return out, s.cutLog(ctx)
}

func (s Owner) removeOne(ctx context.Context, tx *sql.Tx, why string, id session.ID) (Removed, error) {
	r := Removed{ID: id, Time: s.options.Now(), Reason: why}
	var err error
	if r.Num, err = s.number(ctx, tx, id); err != nil {
		return r, err
	}
	if err := tx.QueryRowContext(ctx, "SELECT entries FROM sessions WHERE num = ?", r.Num).Scan(&r.Entries); err != nil {
		return r, s.explain("read", err)
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO removed SELECT num, id, ?, entries, tip, ? FROM sessions WHERE num = ?", Nanos(r.Time), why, r.Num)
	for _, table := range []string{"entries WHERE session", "openings WHERE session", "labels WHERE session", "sessions WHERE num"} {
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM "+table+" = ?", r.Num)
		}
	}
	if err == nil {
		err = dropTexts(ctx, tx, r.Num)
	}
	if err == nil {
		err = removeWords(ctx, tx, r.Num)
	}
	if err != nil {
		return r, s.explain("remove from", err)
	}
	return r, nil
}

// cutLog empties the write-ahead log, which holds copies of the data. It waits for present readers;
// if one goes on reading, the next removal empties it.
func (s Owner) cutLog(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return s.explain("cut the log of", err)
	}
	return nil
}

// Family returns sessions with those of their subagents, without duplicates.
func (s Owner) Family(ctx context.Context, ids ...session.ID) ([]session.ID, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	children := map[session.ID][]session.ID{}
	rows, err := s.db.QueryContext(ctx, `SELECT id, json_extract(start, '$.parent') FROM sessions JOIN openings ON session = num
		WHERE json_valid(start) AND json_extract(start, '$.agent') <> '' AND json_extract(start, '$.parent') <> ''`)
	if err != nil {
		return nil, s.explain("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent session.ID
		if err := rows.Scan(&id, &parent); err != nil {
			return nil, s.explain("read", err)
		}
		children[parent] = append(children[parent], id)
	}
	if err := rows.Err(); err != nil {
		return nil, s.explain("read", err)
	}
	var out []session.ID
	for next := slices.Clone(ids); len(next) > 0; next = next[1:] {
		if !slices.Contains(out, next[0]) {
			out = append(out, next[0])
			next = append(next, children[next[0]]...)
		}
	}
	return out, nil
}

// WasRemoved returns the tombstone of the session with an ID prefix, or nil if there is none or
// several.
func (s Owner) WasRemoved(ctx context.Context, prefix string) (*Removed, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT num, id, time, entries, why FROM removed WHERE substr(id, 1, ?) = ? ORDER BY time DESC LIMIT 2", len([]rune(prefix)), prefix)
	if err != nil {
		return nil, s.explain("read", err)
	}
	defer rows.Close()
	var found []Removed
	for rows.Next() {
		var r Removed
		var at int64
		if err := rows.Scan(&r.Num, &r.ID, &at, &r.Entries, &r.Reason); err != nil {
			return nil, s.explain("read", err)
		}
		r.Time = FromNanos(at)
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		return nil, s.explain("read", err)
	}
	if len(found) == 1 || len(found) == 2 && found[0].ID == found[1].ID {
		return &found[0], nil
	}
	return nil, nil
}

// ErrInUse means another process has the store open, so Scrub cannot run.
var ErrInUse = errors.New("another adze has the session store open")

// Scrub rewrites the whole database without removed data and frees its space. It takes about a
// second for 50 MB. No other process may have the store open, since it would have to wait.
func (s Owner) Scrub(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	s.leave()
	unlock, err := filelock.Try(s.path + ".lock")
	switch {
	case errors.Is(err, filelock.ErrHeld):
		err = fmt.Errorf("%w: what was removed may still stand in unused parts of %s", ErrInUse, s.path)
	case err != nil:
		err = s.fileError("lock it", err)
	default:
		if _, err = s.db.ExecContext(ctx, "VACUUM"); err != nil {
			err = s.explain("write anew", err)
		} else {
			err = s.cutLog(ctx)
		}
		unlock()
	}
	return errors.Join(err, s.prepare())
}

// Size returns the bytes used by the store and those of its free pages.
func (s Owner) Size(ctx context.Context) (used, free int64, err error) {
	if err := s.usable(); err != nil {
		return 0, 0, err
	}
	err = s.db.QueryRowContext(ctx, "SELECT (p.page_count - f.freelist_count) * z.page_size, f.freelist_count * z.page_size FROM pragma_page_count AS p, pragma_freelist_count AS f, pragma_page_size AS z").Scan(&used, &free)
	if err != nil {
		return 0, 0, s.explain("read", err)
	}
	return used, free, nil
}
