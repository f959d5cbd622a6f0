package sessiondb

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"adze/session"
)

const (
	insertEntry = "INSERT INTO entries (session, seq, type, time, data, hash) VALUES "
	oneEntry    = "(?, ?, ?, ?, ?, ?)"
)

// mostTogether is the maximum number of entries per INSERT. A turn stores an answer, its calls'
// outcomes, and notes about both.
const mostTogether = 4

// Append adds all entries to id or none. They are synced to disk when it returns nil. ctx does not
// cancel a running commit, as a partial one would be neither saved nor unsaved; it takes well under
// a millisecond.
func (s *Store) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	w, err := s.writer(ctx, id)
	if err != nil {
		return err
	}
	if w.lost != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, w.lost)
	}
	if err := checkJSON(entries); err != nil || len(entries) == 0 {
		return err
	}
	return s.save(ctx, w, s.masked(id, entries))
}

func (s *Store) masked(id session.ID, entries []session.Entry) []session.Entry {
	if s.options.Mask == nil {
		return entries
	}
	out := make([]session.Entry, len(entries))
	for i, e := range entries {
		out[i] = s.options.Mask(id, e)
	}
	return out
}

func checkJSON(entries []session.Entry) error {
	for i, e := range entries {
		if len(e.Data) > 0 && !json.Valid(e.Data) {
			return fmt.Errorf("entry %d of type %q is not JSON; nothing was saved", i+1, e.Type)
		}
	}
	return nil
}

// save commits entries and advances the chain.
func (s *Store) save(ctx context.Context, w *writer, entries []session.Entry) error {
	rows := make([]row, len(entries))
	end := w.end
	for i, e := range entries {
		rows[i] = newRow(w.id, end, e)
		end = link{rows[i].seq, rows[i].hash}
	}
	opening := openingOf(entries, w)
	makeRoom(rows)
	if err := s.present(); err != nil {
		w.lost = err
		return err
	}
	save := s.saveAll
	if len(rows) <= mostTogether && w.num != 0 && opening == nil && !slices.ContainsFunc(rows, func(r row) bool { return r.text != nil }) {
		save = s.saveTogether
	}
	num, err := save(ctx, w, rows, opening)
	if err != nil {
		return s.giveUp(w, err)
	}
	w.num, w.end = num, end
	s.noteLog()
	if opening != nil {
		w.start = w.start || opening.start != nil
		w.first = w.first || opening.first != nil && !isCopied(*opening.first)
	}
	return nil
}

// largeRows is the size of rows in bytes from which a garbage collection, which takes some
// milliseconds, is worthwhile.
const largeRows = 4 << 20

// makeRoom collects garbage: SQLite allocates twice the rows' bytes outside the heap, where the
// collector does not see them.
func makeRoom(rows []row) {
	size := 0
	for _, r := range rows {
		size += len(r.data)
		for _, t := range r.text {
			size += t.size
		}
	}
	if size >= largeRows {
		debug.FreeOSMemory()
	}
}

// giveUp stops saving the session: after a failure the disk's content is unknown until the database
// is reopened. It does not if another process held the lock and nothing was begun.
func (s *Store) giveUp(w *writer, err error) error {
	code := codeOf(err)
	err = s.explain("save to", err)
	if code != codeBusy && code != codeLocked {
		w.lost = err
	}
	return err
}

// insertOf returns the statement that inserts n entries. It is cached: compiling it with its
// trigger costs as much as running it.
func (s *Store) insertOf(ctx context.Context, n int) (*sql.Stmt, error) {
	at := &s.inserts[n-1]
	if *at == nil {
		made, err := s.db.PrepareContext(ctx, insertEntry+oneEntry+strings.Repeat(", "+oneEntry, n-1))
		if err != nil {
			return nil, err
		}
		*at = made
	}
	return *at, nil
}

// saveTogether is the usual case: a single statement is atomic without a transaction, which is a
// third less work.
func (s *Store) saveTogether(ctx context.Context, w *writer, rows []row, _ *listHead) (num int64, err error) {
	insert, err := s.insertOf(ctx, len(rows))
	if err != nil {
		return 0, err
	}
	args := make([]any, 0, mostTogether*strings.Count(oneEntry, "?"))
	for _, r := range rows {
		args = append(args, w.num, r.seq, r.kind, r.time, r.data, r.hash)
	}
	_, err = insert.ExecContext(ctx, args...)
	return w.num, err
}

func (s *Store) saveAll(ctx context.Context, w *writer, rows []row, o *listHead) (num int64, err error) {
	one, err := s.insertOf(ctx, 1)
	if err != nil {
		return 0, err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // no effect after Commit
	if num = w.num; num == 0 {
		if num, err = newSession(ctx, tx, w.id, rows[0].time); err != nil {
			return 0, err
		}
	}
	insert := tx.StmtContext(ctx, one)
	for _, r := range rows {
		if err := saveTexts(ctx, tx, num, r.text); err != nil {
			return 0, err
		}
		if _, err := insert.ExecContext(ctx, num, r.seq, r.kind, r.time, r.data, r.hash); err != nil {
			return 0, err
		}
	}
	if o != nil {
		if err := o.save(ctx, tx, num); err != nil {
			return 0, err
		}
	}
	return num, tx.Commit()
}

const nextNumber = "1 + max(ifnull((SELECT max(num) FROM sessions), 0), ifnull((SELECT max(num) FROM removed), 0))"

// newSession assigns a number never used before, not even by a removed session.
func newSession(ctx context.Context, tx *sql.Tx, id session.ID, created int64) (int64, error) {
	done, err := tx.ExecContext(ctx, "INSERT INTO sessions (num, id, created, updated, entries, tip) VALUES ("+nextNumber+", ?, ?, ?, 0, x'')", string(id), created, created)
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

// Reopen lets id be written again after a failed commit, over a new connection, because the old
// one's view of the disk is unknown. landed reports whether the failed commit's entries are stored
// after all. An error means writing is still impossible.
func (s *Store) Reopen(ctx context.Context, id session.ID) (landed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, ErrClosed
	}
	w := s.writers[id]
	if w == nil || w.lost == nil {
		return false, nil
	}
	if err := s.reconnect(ctx); err != nil {
		return false, err
	}
	if err := s.relock(w); err != nil {
		return false, err
	}
	now := writer{id: id}
	if err := s.resume(ctx, &now); err != nil {
		return false, err
	}
	if now.end.seq < w.end.seq || !s.passes(ctx, now.num, w.end) {
		return false, fmt.Errorf("session store %s: the log of session %s is not the one that was written; put the right file back, or start a new session", s.path, id)
	}
	landed = now.end.seq > w.end.seq
	w.num, w.end, w.start, w.first, w.lost = now.num, now.end, now.start, now.first, nil
	return landed, nil
}

// reconnect makes the next statement reopen the file at the path, if it exists.
func (s *Store) reconnect(ctx context.Context) error {
	now, err := os.Stat(s.path)
	if err != nil {
		return s.gone("it was removed", err)
	}
	if now.Size() == 0 { // SQLite would create an empty database
		return s.gone("another file was put in its place", nil)
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.explain("open", err)
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // closes the connection
	s.file, s.log = now, nil
	return s.present()
}

// relock takes a session's lock again if the lock file is gone.
func (s *Store) relock(w *writer) error {
	if samePath(w.lock, w.lock.Name()) {
		return nil
	}
	lock, err := s.acquire(w.id)
	if err != nil {
		return err
	}
	_ = w.lock.Close() // its file was deleted
	w.lock = lock
	return nil
}

// passes reports whether a session's chain contains a link.
func (s *Store) passes(ctx context.Context, num int64, at link) bool {
	if at.seq == 0 {
		return true
	}
	var hash []byte
	err := s.db.QueryRowContext(ctx, "SELECT hash FROM entries WHERE session = ? AND seq = ?", num, at.seq).Scan(&hash)
	return err == nil && bytes.Equal(hash, at.hash)
}

// Rewrite writes the whole log of id and the waiting entries into a new database, if the old one
// was deleted while open. Its content is still readable.
func (s *Store) Rewrite(ctx context.Context, id session.ID, waiting []session.Entry) error {
	if _, err := os.Lstat(s.path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("session store %s: it is there", s.path)
	}
	log, err := s.Load(ctx, id)
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		return err
	}
	s.mu.Lock()
	if w := s.writers[id]; w != nil {
		_ = w.lock.Close() // the new store takes it
	}
	s.mu.Unlock()
	fresh, err := Open(ctx, s.path, s.options)
	if err != nil {
		return err
	}
	return errors.Join(fresh.Append(ctx, id, append(log, waiting...)...), fresh.Close())
}
