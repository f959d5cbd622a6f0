package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/session"
)

// Look opens the database at path read-only: it creates and repairs nothing, takes no lock, and
// works in read-only folders. A missing database has no sessions. Append and Lock fail with
// ErrReadOnly.
func Look(ctx context.Context, path string, o Options) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("session store: %w", err)
	}
	s := &Store{path: path, options: o, writers: map[session.ID]*writer{}}
	s.frozen = fmt.Errorf("%w: %s was opened only to look into it", ErrReadOnly, path)
	if err := s.look(ctx); err != nil {
		s.disconnect()
		return nil, errors.Join(err, s.forgetCopy())
	}
	return s, nil
}

func (s *Store) look(ctx context.Context) error {
	_, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.nothing(ctx)
	}
	if _, err := s.readHeader(os.O_RDONLY); err != nil {
		return err
	}
	err = s.reading(ctx, s.uri("mode=ro", pragma("busy_timeout(%d)", busyTimeout), pragma("query_only(1)")))
	switch codeOf(err) {
	case codeCantOpen, codeReadOnly: // the folder is read-only, and SQLite wants to create its shared memory there
		s.disconnect()
		err = s.lookElsewhere(ctx)
	}
	if errors.Is(err, errNoTables) {
		s.disconnect()
		return s.nothing(ctx)
	}
	if err != nil {
		return s.explain("read", err)
	}
	if err := s.pretend(ctx); err != nil {
		return s.explain("read", err)
	}
	return nil
}

// pretend adds the tables an older adze's database lacks, as empty temporary tables.
func (s *Store) pretend(ctx context.Context) error {
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version >= 2 {
		return err
	}
	_, err := s.db.ExecContext(ctx, `PRAGMA query_only = 0; PRAGMA temp_store = MEMORY;
		CREATE TEMP TABLE identity (id); CREATE TEMP TABLE labels (num, session, time, kind, value, origin);
		CREATE TEMP TABLE removed (num, id, time, entries, tip, why); PRAGMA query_only = 1`)
	return err
}

// errNoTables means the file's creator is not finished or was killed.
var errNoTables = errors.New("the database has no tables yet")

// reading connects and runs a query, because SQLite opens the file only then.
func (s *Store) reading(ctx context.Context, uri string) (err error) {
	if s.db, err = sql.Open("sqlite", uri); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	var tables, version int
	err = s.db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM sqlite_schema), user_version FROM pragma_user_version").Scan(&tables, &version)
	if err != nil {
		return err
	}
	if tables == 0 && version == 0 {
		return errNoTables
	}
	return s.db.QueryRowContext(ctx, "SELECT count(*) FROM sessions").Scan(&tables)
}

// lookElsewhere reads a database in a read-only folder: directly if it has no log, else a copy of
// both.
func (s *Store) lookElsewhere(ctx context.Context) error {
	if info, err := os.Stat(s.path + "-wal"); err != nil || info.Size() == 0 {
		return s.reading(ctx, s.uri("mode=ro", "immutable=1", pragma("query_only(1)")))
	}
	dir, err := os.MkdirTemp("", "adze-look-")
	if err != nil {
		return err
	}
	s.copied = dir
	to := filepath.Join(dir, "sessions.db")
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(s.path+suffix, to+suffix); err != nil {
			return err
		}
	}
	return s.reading(ctx, fileURI(to, "mode=rw", pragma("query_only(1)")))
}

func (s *Store) nothing(ctx context.Context) (err error) {
	if s.db, err = sql.Open("sqlite", ":memory:"); err != nil {
		return s.explain("open", err)
	}
	s.db.SetMaxOpenConns(1)
	return s.migrate(ctx)
}

func (s *Store) forgetCopy() error {
	if s.copied == "" {
		return nil
	}
	return os.RemoveAll(s.copied)
}
