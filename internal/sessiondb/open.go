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

// busyTimeout is how long a commit waits for other processes, in milliseconds. SQLite's waiting is
// unfair: with two busy writers a wait of four seconds was measured.
const busyTimeout = 10_000

// Open opens the database at path, creating it if needed: the file with mode 0600, its folder with
// 0700. It first sets a damaged one aside (see Salvaged), and opens one of a newer version
// read-only (see ReadOnly).
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

// prepare creates the folder and file and marks the database as in use.
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
		_ = s.db.Close() // damaged or refused; the first error counts
		s.db = nil
	}
}

// recheck checks a file in which an earlier process found damage.
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
	_ = os.Remove(mark) // if it stays, the next start checks once more
	return nil
}

// whileBusy opens a database, retrying if another process opens it at the same moment: SQLite does
// not wait if two readers both want to change the journal mode, as one has to give way. It returns
// open's error, after 10 s even if still busy.
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

// connectOnce opens the file according to its header and migrates its schema.
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

// openNewer opens a newer version's database so its sessions are readable.
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

// dsn returns the settings of every connection. A page cache of half a megabyte suffices for an
// append-only log. The busy timeout must come first: otherwise changing the journal mode fails at
// once if another process does the same.
func (s *Store) dsn(h header) string {
	settings := []string{"_txlock=immediate", pragma("busy_timeout(%d)", busyTimeout)}
	switch network := s.options.Network(s.path); {
	case network && h.wal:
		settings = append(settings, pragma("journal_mode(DELETE)"))
	case !network && !h.wal: // stored in the file, so later starts need not ask
		settings = append(settings, pragma("journal_mode(WAL)"))
	}
	return s.uri(append(settings, pragma("synchronous(FULL)"), pragma("foreign_keys(1)"), pragma("cache_size(-512)"))...)
}

// URIPath returns a path for a file URI, where one with a drive also begins with a slash.
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

// header holds the first hundred bytes of the file (sqlite.org/fileformat, section 1.3). It may lag
// behind the write-ahead log, but never names a newer version than the actual one.
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

// fileError explains an operating system error with the user's next step.
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
