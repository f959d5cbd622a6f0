package sessiondb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
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
