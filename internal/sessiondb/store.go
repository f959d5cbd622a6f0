// Package sessiondb stores the logs of all of a user's sessions in one SQLite database.
//
// A session is a row of sessions and a chain of entry rows. Each row carries a SHA-256 over itself
// and the previous hash, and the sessions row holds the last hash, so Verify finds changed,
// swapped, deleted or truncated rows. Rows are only added, and a session is only removed as a
// whole, leaving a tombstone; the database's triggers enforce both. Titles and tags are not part of
// the log (labels.go).
//
// The one rule: Append returns nil only when the rows are on disk (WAL with synchronous=FULL,
// rollback journal on network file systems). A failed commit is never reported as saved; the
// session accepts no entries until Reopen has checked the disk over a new connection. Package
// buffered calls it, and holds new entries in the meantime.
//
// Start reading at Open (open.go), then Append (append.go). chain.go is the hash chain, lock.go the
// one writer per session, wal.go the log left by Close, remove.go permanent removal, rescue.go
// damaged files, memory.go the store in memory, texts.go large texts, which are stored once.
//
// Next to the database are PATH-wal and PATH-shm (SQLite's log, which a short run leaves for the
// next one, and its index), PATH.lock (held, shared, by every process with the database open),
// PATH.locks/ (one file per session being written), PATH.check (left by a process that found
// damage) and PATH.damaged-TIME (a damaged file set aside).
//
// Known limits:
//   - A large text is loaded as often as entries refer to it: loading takes the whole log's memory.
//   - A chain without an external anchor shows changes by others, but not a rewrite by the owner.
//   - Only entries that SQLite can read from a session's beginning are copied from a damaged file.
//     The old file is kept: sqlite3 FILE .recover may find more.
//   - Calls wait for each other: a process has one connection.
//   - PATH and PATH-wal belong together: copy both while no adze runs, and remove PATH-wal when
//     restoring a copy to PATH. Without PATH-wal the newest entries are missing, without an error.
package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"adze/session"
)

// Errors in addition to those of session.
var (
	// ErrNotSaved is returned by every Append after a failed commit.
	ErrNotSaved = errors.New("the session is no longer saved")
	// ErrReadOnly is returned by Append and Lock if a newer adze wrote the database.
	ErrReadOnly = errors.New("the session store is read-only")
	// ErrDamaged means rows are unreadable. The next Open checks the file and sets it aside.
	ErrDamaged = errors.New("the session store is damaged")
	// ErrOpen marks an error of opening or reading the store before a run began.
	ErrOpen = errors.New("the session store could not be opened")
	// ErrClosed is returned by a closed store.
	ErrClosed = errors.New("the session store is closed")
)

// Options configure Open. The zero value is right outside tests.
type Options struct {
	Now     func() time.Time       // names a damaged file; nil means time.Now
	Network func(path string) bool // reports a network file system; nil asks the kernel (Linux only)
	Wait    func(time.Duration)    // before retrying a held lock; nil means time.Sleep
	// Mask redacts an entry before it is written; nil stores entries unchanged. It must be
	// deterministic and idempotent.
	Mask func(session.ID, session.Entry) session.Entry
}

// A Store implements session.Store. It is safe for concurrent use.
type Store struct {
	path    string
	options Options
	leave   func()      // releases the shared PATH.lock; nil if read-only
	file    os.FileInfo // the database when it was opened
	log     os.FileInfo // its write-ahead log after the first commit; nil without one
	copied  string      // folder of a copy that is read instead
	db      *sql.DB
	loss    *Loss
	frozen  error // why the store is read-only, or nil
	whole   bool  // Close folds the log into the database file

	mu      sync.Mutex // guards the following fields and makes Append atomic
	closed  bool
	writers map[session.ID]*writer
	// verdicts holds the results of Stream's chain checks, nil for valid chains.
	verdicts map[session.ID]*BadRow
	inserts  [mostTogether]*sql.Stmt // for 1, 2, ... entries; prepared on first use
}

var _ session.Store = (*Store)(nil)

// A Loss reports the unreadable parts of a damaged file. Kept is that file's new path.
type Loss struct {
	Kept     string
	Cause    string   // the old file's error
	Sessions int      // copied
	Entries  int      // copied
	Missing  []string // one line per session with missing entries
}

func (l Loss) String() string {
	text := fmt.Sprintf("the session store was damaged (%s); %d entries of %d sessions were saved, the old file is %s (sqlite3 FILE .recover may find more)",
		l.Cause, l.Entries, l.Sessions, l.Kept)
	for _, m := range l.Missing {
		text += "\n" + m
	}
	return text
}

// Salvaged returns the entries lost by Open, or nil if the file was intact.
func (s *Store) Salvaged() *Loss { return s.loss }

// Path returns the database's path.
func (s *Store) Path() string { return s.path }

// Owner returns the store's owner operations.
func (s *Store) Owner() Owner { return Owner{s} }

// Close releases all locks and the database. Later calls fail with ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, insert := range s.inserts {
		if insert != nil {
			errs = append(errs, insert.Close())
		}
	}
	_ = s.keepLog(context.Background()) // else closing folds the log in
	errs = append(errs, s.db.Close())
	for _, w := range s.writers {
		errs = append(errs, w.release())
	}
	if s.leave != nil {
		s.leave()
	}
	return errors.Join(append(errs, s.forgetCopy())...)
}

// Lock makes this process the only writer of id until Close.
func (s *Store) Lock(ctx context.Context, id session.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.writer(ctx, id)
	return err
}
