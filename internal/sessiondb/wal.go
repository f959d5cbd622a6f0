package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"adze/session"
)

// keptLog is how large, in bytes, the write-ahead log may be that Close leaves behind. Who opens
// the database next reads all of it: 0.2 ms for this much, against the four syncs of the disk that
// folding it in and beginning a new one cost.
const keptLog = 256 << 10

// keepLog makes Close leave the log for the next process. Nothing that was acknowledged depends on
// more: every commit in the log was synced, the next process replays it, and SQLite begins a log
// anew only after a checkpoint that syncs. So what closing copies into the database itself needs no
// sync.
//
// A long log, one that a failed commit may have touched, and that of a database which is about to
// be moved are folded in as SQLite does by itself: synced and removed.
func (s *Store) keepLog(ctx context.Context) error {
	info, err := os.Stat(s.path + "-wal")
	if err != nil || info.Size() > keptLog || s.frozen != nil || s.whole || s.anyLost() {
		return nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // gives it back
	err = conn.Raw(func(driver any) error {
		wal, ok := driver.(sqlite.FileControl)
		if !ok {
			return fmt.Errorf("session store %s: the driver cannot keep a log", s.path)
		}
		_, err := wal.FileControlPersistWAL("main", 1)
		return err
	})
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "PRAGMA synchronous = OFF")
	return err
}

func (s *Store) anyLost() bool {
	for _, w := range s.writers {
		if w.lost != nil {
			return true
		}
	}
	return false
}

// A process goes on writing to files that were removed: SQLite says that all is well, and nothing
// of it is left. So before each commit the files are looked for where the next adze will look (some
// microseconds of a commit that takes a hundred).

// ownerWrites is the bit without which the owner may not write; root may all the same, and is told,
// too.
const ownerWrites = 0o200

// present reports that the database is no longer where it was opened, or may no longer be written.
func (s *Store) present() error {
	folder, err := os.Stat(filepath.Dir(s.path))
	if err != nil {
		return s.gone("its folder was removed", err)
	}
	now, err := os.Stat(s.path)
	if err != nil {
		return s.gone("it was removed", err)
	}
	if s.file != nil && !os.SameFile(s.file, now) {
		return s.gone("another file was put in its place", nil)
	}
	if folder.Mode().Perm()&ownerWrites == 0 || now.Mode().Perm()&ownerWrites == 0 {
		return s.gone("it was made read-only", nil)
	}
	if s.log == nil {
		return nil
	}
	if log, err := os.Stat(s.path + "-wal"); err != nil || !os.SameFile(s.log, log) {
		return s.gone("its log "+filepath.Base(s.path)+"-wal was removed", err)
	}
	return nil
}

// noteLog remembers the write-ahead log that a commit made; there is none on a network file system.
func (s *Store) noteLog() {
	if s.log == nil {
		s.log, _ = os.Stat(s.path + "-wal")
	}
}

func (s *Store) gone(what string, err error) error {
	text := fmt.Sprintf("session store %s: %s while adze had it open; put it back, or start a new session", s.path, what)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return fmt.Errorf("%s", text)
}

// The newest commits stand in the write-ahead log alone, which SQLite takes for empty when it is
// missing, cut or damaged: the database then looks sound, and is older than it was. So PATH.last
// tells, outside of both, which entry was stored last. It is written after each commit and not
// synced: it may lag behind, but never tells of what was not stored.
//
// What Remove took away is known; whatever else takes entries away on purpose, as a rescue does,
// removes the file.

// lastSize is the size in bytes of what PATH.last holds: an entry of a fixed size is written at
// once.
const lastSize = 256

// noteLast remembers the newest entry. Where it cannot be written, a loss is not noticed, and
// nothing else is worse.
func (s *Store) noteLast(w *writer) {
	if s.last == nil {
		var err error
		if s.last, err = os.OpenFile(s.path+".last", os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return
		}
	}
	text := fmt.Sprintf("%d %s", w.end.seq, w.id)
	if len(text) < lastSize {
		_, _ = s.last.WriteAt([]byte(text+strings.Repeat(" ", lastSize-1-len(text))+"\n"), 0)
	}
}

// missed compares the database with the entry that was stored last. It is called before anything is
// written.
func (s *Store) missed(ctx context.Context) error {
	f, err := os.Open(s.path + ".last")
	if err != nil {
		return nil // nothing is known
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, lastSize))
	var seq, have int64
	var id string
	if _, serr := fmt.Sscanf(string(raw), "%d %s", &seq, &id); err != nil || serr != nil {
		return nil
	}
	err = s.db.QueryRowContext(ctx, "SELECT entries FROM sessions WHERE id = ?1 UNION ALL SELECT entries FROM removed WHERE id = ?1", id).Scan(&have)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return s.explain("read", err)
	}
	if have < seq {
		s.notices = append(s.notices, s.tellMissed(session.ID(id), seq, have))
	}
	return nil
}

// tellMissed words the loss, and keeps the log that SQLite will overwrite.
func (s *Store) tellMissed(id session.ID, seq, have int64) string {
	log := s.path + "-wal"
	text := fmt.Sprintf("the newest entries of the session store are lost: session %s had %d entries and has %d", id, seq, have)
	info, err := os.Stat(log)
	if err != nil || info.Size() == 0 {
		return text + fmt.Sprintf("; its log %s is missing: %s and that file belong together", log, filepath.Base(s.path))
	}
	if s.frozen != nil {
		return text + fmt.Sprintf("; its log %s is damaged", log)
	}
	kept := fmt.Sprintf("%s.damaged-%s", log, s.options.Now().UTC().Format("20060102T150405.000Z"))
	if err := copyFile(log, kept); err != nil {
		return text + fmt.Sprintf("; its log %s is damaged, and could not be kept: %v", log, err)
	}
	return text + fmt.Sprintf("; its log %s is damaged, a copy is kept as %s", log, kept)
}

// Notices tell what was lost, beside what Salvaged tells, when the store was opened.
func (s *Store) Notices() []string { return s.notices }
