package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// A process goes on writing to files that were removed: SQLite says that all is well, and nothing of it is left. So
// before each commit the files are looked for where the next adze will look (some microseconds of a commit that takes
// a hundred).

// ownerWrites is the bit without which the owner may not write; root may all the same, and is told, too.
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
