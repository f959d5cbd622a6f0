package sessiondb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// keptLog is the largest write-ahead log that Close leaves, in bytes. The next process has to read
// all of it: 0.2 ms for this size, against four disk syncs for folding it in and starting a new
// one.
const keptLog = 256 << 10

// keepLog makes Close leave the log for the next process. Acknowledged entries need no more: every
// commit in the log was synced, the next process replays it, and SQLite restarts a log only after a
// synced checkpoint. So the copying into the database on close needs no sync.
//
// A long log, one possibly hit by a failed commit, and that of a database about to be moved are
// folded in, synced and removed as usual.
func (s *Store) keepLog(ctx context.Context) error {
	info, err := os.Stat(s.path + "-wal")
	if err != nil || info.Size() > keptLog || s.frozen != nil || s.whole || s.anyLost() {
		return nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() // returns it to the pool
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

// A process can keep writing to deleted files: SQLite reports no error, and nothing is left. So
// each commit first checks that the files are still where the next adze will look (some
// microseconds of a commit's hundred).

// ownerWrites is the mode bit that lets the owner write. Root is not bound by it but gets the same
// error.
const ownerWrites = 0o200

// present returns an error if the database is no longer at its path or writable.
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

// noteLog records the write-ahead log created by a commit; there is none on a network file system.
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
