package sessiondb

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
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
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // returns it to the pool
	c := &rowCopier{ctx: ctx, conn: conn}
	c.run("PRAGMA synchronous = OFF")   // until all is copied
	c.run("PRAGMA writable_schema = 1") // SQLite then also opens a file that is shorter than its header claims
	c.run("ATTACH ? AS old", path)
	heads, broken := c.heads()
	if broken != nil {
		loss.Missing = append(loss.Missing, "the list of sessions could not be read to its end: "+causeText(broken))
	}
	for _, h := range heads {
		entries, lost := c.session(h)
		if c.err != nil {
			return fmt.Errorf("write session %s, as far as it could be read: %w", h.id, c.err)
		}
		if entries < h.entries {
			loss.Missing = append(loss.Missing, fmt.Sprintf("session %s: %d of %d entries could be read", h.id, entries, h.entries))
		}
		if lost > 0 {
			loss.Missing = append(loss.Missing, fmt.Sprintf("session %s: %d large texts are lost", h.id, lost))
		}
		if entries > 0 {
			loss.Sessions++
			loss.Entries += int(entries)
		}
	}
	c.run("INSERT INTO removed SELECT num, id, time, entries, tip, why FROM old.removed")
	c.run("PRAGMA synchronous = FULL")
	return c.err
}

// rowCopier copies rows of the attached database "old", each statement in a transaction of its own:
// SQLite writes nothing more in one that has met damage.
type rowCopier struct {
	ctx  context.Context
	conn *sql.Conn
	err  error // the first write error
}

// run returns the number of rows written. Damage, tables that an older version lacks, and rows that
// violate the schema are no errors.
func (c *rowCopier) run(statement string, args ...any) (n int64) {
	done, err := c.conn.ExecContext(c.ctx, statement, args...)
	switch codeOf(err) {
	case codeError, codeCorrupt, codeNotADB, codeConstraint, codeMismatch:
		return 0
	}
	if err == nil {
		n, err = done.RowsAffected()
	}
	if c.err == nil {
		c.err = err
	}
	return n
}

type oldSession struct {
	num, created, entries int64
	id                    string
}

func (c *rowCopier) heads() (list []oldSession, err error) {
	rows, err := c.conn.QueryContext(c.ctx, "SELECT num, created, entries, id FROM old.sessions ORDER BY num")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h oldSession
		if err := rows.Scan(&h.num, &h.created, &h.entries, &h.id); err != nil {
			return list, err
		}
		list = append(list, h)
	}
	return list, rows.Err()
}

// session copies a session up to its first unreadable row, keeping its number and hashes, so that
// Verify still reports missing entries. It returns the numbers of copied entries and lost texts.
func (c *rowCopier) session(h oldSession) (entries, lost int64) {
	c.run("INSERT INTO sessions (num, id, created, updated, entries, tip) VALUES (?, ?, ?, ?, 0, x'')", h.num, h.id, h.created, h.created)
	for c.run("INSERT INTO entries SELECT session, seq, type, time, data, hash FROM old.entries WHERE session = ? AND seq = ?", h.num, entries+1) > 0 {
		entries++
	}
	if entries == 0 {
		c.run("DELETE FROM sessions WHERE num = ?", h.num)
		return 0, 0
	}
	c.run("INSERT INTO openings SELECT session, start, first FROM old.openings WHERE session = ?", h.num)
	c.run("INSERT INTO labels (session, time, kind, value, origin) SELECT session, time, kind, value, origin FROM old.labels WHERE session = ? ORDER BY num", h.num)
	c.run("INSERT INTO uses SELECT text, session FROM old.uses WHERE session = ?", h.num)
	var list []byte
	var texts []int64
	err := c.conn.QueryRowContext(c.ctx, "SELECT json_group_array(text) FROM uses WHERE session = ?", h.num).Scan(&list)
	if err = cmp.Or(err, json.Unmarshal(list, &texts)); c.err == nil {
		c.err = err
	}
	for _, t := range texts {
		if c.run("INSERT OR REPLACE INTO texts SELECT num, hash, size, packed, data FROM old.texts WHERE num = ?", t) == 0 {
			lost++
		}
	}
	return entries, lost
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
