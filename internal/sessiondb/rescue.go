package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
)

// A damaged database is renamed to PATH.damaged-TIME. A new one takes its place with the readable
// beginning of each session, and Loss reports the missing entries.

// rescue sets the database aside.
func (s *Store) rescue(ctx context.Context, cause error) (*Loss, error) {
	unlock, err := s.alone()
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	loss, err := s.rescueAlone(ctx, cause)
	unlock()
	return loss, errors.Join(err, s.prepare())
}

// alone trades the store's shared lock for the exclusive one.
func (s *Store) alone() (unlock func(), err error) {
	s.leave()
	unlock, err = filelock.Try(s.path + ".lock")
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, fmt.Errorf("session store %s: another adze has it open; end that one, then start again to repair it", s.path)
	case err != nil:
		return nil, s.fileError("lock it", err)
	}
	return unlock, nil
}

func (s *Store) rescueAlone(ctx context.Context, cause error) (*Loss, error) {
	if s.sound(ctx) {
		return nil, nil // another process was first
	}
	work, err := os.MkdirTemp(filepath.Dir(s.path), ".rescue-")
	if err != nil {
		return nil, errors.Join(cause, s.fileError("make room to repair it", err))
	}
	defer os.RemoveAll(work)
	loss := &Loss{Cause: causeText(cause), Kept: fmt.Sprintf("%s.damaged-%s", s.path, s.options.Now().UTC().Format("20060102T150405.000Z"))}
	if err := s.rebuild(ctx, work, loss); err != nil {
		return nil, errors.Join(cause, err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := keep(s.path+suffix, loss.Kept+suffix); err != nil {
			return nil, errors.Join(cause, s.fileError("keep the old file of", err))
		}
	}
	return loss, s.replace(filepath.Join(work, "fresh.db"))
}

func causeText(err error) string {
	text := strings.ReplaceAll(err.Error(), ErrDamaged.Error()+": ", "")
	text, _, _ = strings.Cut(text, "; start adze again")
	return strings.Join(strings.Fields(text), " ")
}

// sound reports whether the file opens and passes the check after all.
func (s *Store) sound(ctx context.Context) bool {
	defer s.disconnect()
	return s.connect(ctx) == nil && s.recheck(ctx) == nil
}

// replace moves a database to the path. It removes the old log first: SQLite would replay it into
// the wrong database.
func (s *Store) replace(fresh string) error {
	err := atomicfile.SyncFolder(filepath.Dir(s.path))
	for _, suffix := range []string{"-wal", "-shm", "-journal", ".check"} {
		if gone := os.Remove(s.path + suffix); err == nil && !errors.Is(gone, fs.ErrNotExist) {
			err = gone
		}
	}
	if err == nil {
		err = os.Rename(fresh, s.path)
	}
	if err != nil {
		return s.fileError("replace it", err)
	}
	return nil
}

// rebuild copies readable entries into work/fresh.db. It reads a copy, since opening a database may
// change it.
func (s *Store) rebuild(ctx context.Context, work string, loss *Loss) error {
	old := filepath.Join(work, "old.db")
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(s.path+suffix, old+suffix); err != nil {
			return s.fileError("copy it for repair", err)
		}
	}
	options := s.options
	options.Mask = nil // entries are copied unchanged
	fresh, err := Open(ctx, filepath.Join(work, "fresh.db"), options)
	if err != nil {
		return err
	}
	fresh.whole = true
	err = fresh.copyFrom(ctx, old, loss)
	if loss.Entries == 0 {
		loss.Missing = append(loss.Missing, "nothing in it could be read")
	}
	if err := errors.Join(err, fresh.Close()); err != nil {
		return err
	}
	if _, err := os.Stat(fresh.path + "-wal"); err == nil {
		return fmt.Errorf("session store %s: its repaired copy could not be completed; check the disk's free space and start again", s.path)
	}
	return nil
}

// copyFrom copies the sessions of the damaged database at path. It only returns write errors.
func (s *Store) copyFrom(ctx context.Context, path string, loss *Loss) error {
	// With writable_schema SQLite also opens a file that is shorter than its header claims.
	old, err := sql.Open("sqlite", fileURI(path, pragma("writable_schema(1)")))
	if err != nil {
		return err
	}
	defer old.Close()
	old.SetMaxOpenConns(1)
	type head struct {
		num, created, entries int64
		id                    string
	}
	var heads []head
	broken := readRows(ctx, old, "SELECT num, created, entries, id FROM sessions ORDER BY num", nil, func(rows *sql.Rows) error {
		var h head
		err := rows.Scan(&h.num, &h.created, &h.entries, &h.id)
		if err == nil {
			heads = append(heads, h)
		}
		return err
	})
	if broken != nil {
		loss.Missing = append(loss.Missing, "the list of sessions could not be read to its end: "+causeText(broken))
	}
	for _, h := range heads {
		c := &rowCopier{ctx: ctx, old: old}
		if c.err = c.session(s.db, h.num, h.created, h.id); c.err != nil {
			return fmt.Errorf("write session %s, as far as it could be read: %w", h.id, c.err)
		}
		if c.entries < h.entries {
			loss.Missing = append(loss.Missing, fmt.Sprintf("session %s: %d of %d entries could be read", h.id, c.entries, h.entries))
		}
		if c.lostTexts > 0 {
			loss.Missing = append(loss.Missing, fmt.Sprintf("session %s: %d large texts are lost", h.id, c.lostTexts))
		}
		if c.entries > 0 {
			loss.Sessions++
			loss.Entries += int(c.entries)
		}
	}
	c := &rowCopier{ctx: ctx, old: old}
	if c.tx, err = s.db.BeginTx(ctx, nil); err != nil {
		return err
	}
	defer c.tx.Rollback() // no effect after Commit
	c.rows("INSERT INTO removed VALUES (?, ?, ?, ?, ?, ?)", 6, "SELECT num, id, time, entries, tip, why FROM removed WHERE num > ?", 0)
	return errors.Join(c.err, c.tx.Commit())
}

type rowCopier struct {
	ctx                context.Context
	old                *sql.DB
	tx                 *sql.Tx
	err                error // the first write error
	entries, lostTexts int64
}

// session copies a session up to its first unreadable row, keeping its number and hashes, so
// Verify still reports missing entries.
func (c *rowCopier) session(db *sql.DB, num, created int64, id string) (err error) {
	if c.tx, err = db.BeginTx(c.ctx, nil); err != nil {
		return err
	}
	defer c.tx.Rollback() // no effect after Commit
	c.insert("INSERT INTO sessions (num, id, created, updated, entries, tip) VALUES (?, ?, ?, ?, 0, x'')", num, id, created, created)
	c.entries = c.rows(insertEntry+oneEntry, 6, "SELECT session, seq, type, time, data, hash FROM entries WHERE session = ? ORDER BY seq", num)
	if c.entries == 0 || c.err != nil {
		return c.err
	}
	c.rows("INSERT INTO openings VALUES (?, ?, ?)", 3, "SELECT session, start, first FROM openings WHERE session = ?", num)
	c.rows("INSERT INTO labels (session, time, kind, value, origin) VALUES (?, ?, ?, ?, ?)", 5,
		"SELECT session, time, kind, value, origin FROM labels WHERE session = ? ORDER BY num", num)
	c.rows("INSERT INTO uses VALUES (?, ?)", 2, "SELECT text, session FROM uses WHERE session = ?", num)
	var texts []int64
	_ = readRows(c.ctx, c.tx, "SELECT text FROM uses WHERE session = ?", []any{num}, func(rows *sql.Rows) error {
		texts = append(texts, 0)
		return rows.Scan(&texts[len(texts)-1])
	})
	for _, t := range texts {
		if c.rows("INSERT OR IGNORE INTO texts (num, hash, size, packed, data) VALUES (?, ?, ?, ?, ?)", 5,
			"SELECT num, hash, size, packed, data FROM texts WHERE num = ?", t) == 0 {
			c.lostTexts++
		}
	}
	if c.err != nil {
		return c.err
	}
	return c.tx.Commit()
}

// rows inserts a query's rows up to the first unreadable one and returns their number.
func (c *rowCopier) rows(statement string, columns int, query string, arg any) (n int64) {
	values, into := make([]any, columns), make([]any, columns)
	for i := range values {
		into[i] = &values[i]
	}
	_ = readRows(c.ctx, c.old, query, []any{arg}, func(rows *sql.Rows) error {
		err := rows.Scan(into...)
		if err == nil {
			err = c.insert(statement, values...)
		}
		if err == nil {
			n++
		}
		return err
	})
	return n
}

// insert writes a row. One that violates the schema comes from a damaged page.
func (c *rowCopier) insert(statement string, values ...any) error {
	_, err := c.tx.ExecContext(c.ctx, statement, values...)
	if code := codeOf(err); code != codeConstraint && code != codeMismatch && c.err == nil {
		c.err = err
	}
	return err
}

// readRows calls use for all rows up to the first unreadable one.
func readRows(ctx context.Context, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, query string, args []any, use func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := use(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// keep links from to a second name, or copies it if the file system has no links.
func keep(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return copyFile(from, to)
}

// copyFile copies and syncs a file. A missing file is no error.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
