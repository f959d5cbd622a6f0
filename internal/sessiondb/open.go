package sessiondb

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"adze/internal/osfile/filelock"
	"adze/session"
)

// busyTimeout is how long, in milliseconds, a commit waits for other processes. SQLite's waiting is
// not fair: with two busy writers a single wait of four seconds was measured.
const busyTimeout = 10_000

// Open opens the database at path, and makes it when it is missing: the file with mode 0600, its
// folder with 0700. A damaged one is put aside first (see Salvaged); one written
// by a newer version is opened read-only (see ReadOnly).
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Network == nil {
		o.Network = onNetwork
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("session store: %w", err)
	}
	s := &Store{path: path, options: o, writers: map[session.ID]*writer{}}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if err := s.openOrRescue(ctx); err != nil {
		s.leave()
		return nil, err
	}
	return s, nil
}

// prepare makes the folder and the file, and marks the database as in use.
func (s *Store) prepare() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return s.fileError("make its folder", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endingPatience)
	defer cancel()
	leave, err := filelock.Share(ctx, s.path+".lock")
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("session store %s: another process is repairing it or writing it anew; try again when it is done", s.path)
	case err != nil:
		return s.fileError("lock it", err)
	}
	s.leave = leave
	return nil
}

func (s *Store) openOrRescue(ctx context.Context) error {
	err := s.connect(ctx)
	if err == nil {
		err = s.recheck(ctx)
	}
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	s.disconnect()
	if s.loss, err = s.rescue(ctx, err); err != nil {
		return err
	}
	return s.connect(ctx)
}

func (s *Store) disconnect() {
	if s.db != nil {
		_ = s.db.Close() // a damaged or refused file; its own error is the one that counts
		s.db = nil
	}
}

// recheck looks through a file in which an earlier process met damage.
func (s *Store) recheck(ctx context.Context) error {
	mark := s.path + ".check"
	if _, err := os.Lstat(mark); err != nil {
		return nil
	}
	var verdict string
	if err := s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return s.explain("check", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrDamaged, verdict)
	}
	_ = os.Remove(mark) // left there, it costs the next start one more check
	return nil
}

// whileBusy opens a database, and again when another process opens it at the same moment: SQLite
// does not wait where two that have begun to read both want to change how the file is written,
// because one of them has to give way. It ends with what open says, after 10 s also when that is
// still that the file is busy.
func whileBusy(open func() error, pause func(time.Duration)) error {
	for began := time.Now(); ; pause(lockPause) {
		err := open()
		if codeOf(err) != codeBusy || time.Since(began) >= busyTimeout*time.Millisecond {
			return err
		}
	}
}

func (s *Store) connect(ctx context.Context) error {
	return whileBusy(func() error { return s.connectOnce(ctx) }, s.pause)
}

// connectOnce opens the file as its header says and brings its schema up to date.
func (s *Store) connectOnce(ctx context.Context) error {
	h, err := s.readHeader(os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		fresh(s.path, s.options.Network)
		h, err = s.readHeader(os.O_RDWR | os.O_CREATE)
	}
	if err != nil {
		return err
	}
	if h.version > schemaVersion {
		return s.openNewer(ctx, h.version)
	}
	if s.db, err = sql.Open("sqlite", s.dsn(h)); err != nil {
		return s.explain("open", err)
	}
	s.db.SetMaxOpenConns(1)
	var version int
	if err := s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		err = s.explain("open", err)
		s.disconnect()
		return err
	}
	switch {
	case version > schemaVersion:
		s.disconnect()
		return s.openNewer(ctx, version)
	case version < schemaVersion:
		err = s.migrate(ctx)
	}
	if err != nil {
		s.disconnect()
	}
	return err
}

// openNewer opens what a newer version wrote, so that its sessions can still be read.
func (s *Store) openNewer(ctx context.Context, version int) error {
	s.frozen = fmt.Errorf("%w: %s has schema %d and this adze knows %d; update adze, or choose another store",
		ErrReadOnly, s.path, version, schemaVersion)
	var err error
	if s.db, err = sql.Open("sqlite", s.uri("mode=ro", pragma("busy_timeout(%d)", busyTimeout), pragma("query_only(1)"))); err != nil {
		return s.explain("open", err)
	}
	s.db.SetMaxOpenConns(1)
	if err := s.db.PingContext(ctx); err != nil {
		err = s.explain("open", err)
		s.disconnect()
		return err
	}
	return nil
}

// dsn sets what every connection needs. Half a megabyte of pages is enough for a log that is
// appended to. The busy timeout comes first: changing the journal mode while another process does
// the same would fail at once without it.
func (s *Store) dsn(h header) string {
	settings := []string{"_txlock=immediate", pragma("busy_timeout(%d)", busyTimeout)}
	switch network := s.options.Network(s.path); {
	case network && h.wal:
		settings = append(settings, pragma("journal_mode(DELETE)"))
	case !network && !h.wal: // it is kept in the file, so that later starts save the question
		settings = append(settings, pragma("journal_mode(WAL)"))
	}
	return s.uri(append(settings, pragma("synchronous(FULL)"), pragma("foreign_keys(1)"), pragma("cache_size(-512)"))...)
}

// URIPath is a path as it stands in a file URI, where one with a drive begins with a slash, too.
func URIPath(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

func (s *Store) uri(settings ...string) string { return fileURI(s.path, settings...) }

func fileURI(path string, settings ...string) string {
	u := url.URL{Scheme: "file", Path: URIPath(path), RawQuery: strings.Join(settings, "&")}
	return u.String()
}

func pragma(format string, args ...any) string { return "_pragma=" + fmt.Sprintf(format, args...) }

// header is what the first hundred bytes of the file say (sqlite.org/fileformat, section 1.3). It
// may lag behind the write-ahead log, but never says newer than is true.
type header struct {
	wal     bool
	version int
}

const magic = "SQLite format 3\x00"

func (s *Store) readHeader(flag int) (header, error) {
	f, err := os.OpenFile(s.path, flag, 0o600)
	if err != nil {
		return header{}, s.fileError("open it", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return header{}, s.fileError("open it", err)
	}
	if !info.Mode().IsRegular() {
		return header{}, fmt.Errorf("session store %s: not a regular file; move it away", s.path)
	}
	s.file = info
	if info.Mode().Perm()&0o077 != 0 && flag != os.O_RDONLY {
		if err := f.Chmod(0o600); err != nil {
			return header{}, s.fileError("keep others from reading it", err)
		}
	}
	var b [100]byte
	switch n, err := f.ReadAt(b[:], 0); {
	case n == 0 && err == io.EOF:
		return header{}, nil
	case err != nil && err != io.EOF:
		return header{}, s.fileError("read it", err)
	case n < len(b):
		return header{}, fmt.Errorf("%w: its header is cut", ErrDamaged)
	case string(b[:len(magic)]) != magic:
		return header{}, fmt.Errorf("%w: it does not begin as an SQLite database does", ErrDamaged)
	}
	return header{wal: b[18] == 2, version: int(binary.BigEndian.Uint32(b[60:]))}, nil
}

// fileError says what the operating system refused, and the next move.
func (s *Store) fileError(doing string, err error) error {
	next := ""
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		next = fmt.Sprintf("; make %s writable for you, name a folder of yours in XDG_STATE_HOME, or run with --no-session", filepath.Dir(s.path))
	case isDiskFull(err):
		next = fmt.Sprintf("; free some space for %s, or run with --no-session", filepath.Dir(s.path))
	}
	return fmt.Errorf("session store %s: could not %s: %w%s", s.path, doing, err, next)
}
