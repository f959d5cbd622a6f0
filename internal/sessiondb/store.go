// Package sessiondb keeps the logs of all sessions of one user in one SQLite database.
//
// A session is a row of sessions and a chain of rows of entries: each row carries a SHA-256 over
// itself and the hash before it, and the sessions row remembers the last hash, so that a changed,
// swapped, dropped or cut row is found by Verify. Rows are only ever added, and a session can be
// removed as a whole, which leaves a stone; triggers of the database hold that. What a session is
// called and marked with is no part of its log (labels.go).
//
// The one rule: Append returns nil only when the rows are on the disk (WAL with synchronous=FULL,
// rollback journal on network file systems). A commit that failed is never called saved; the
// session takes no more entries until Again has looked what the disk holds, over a new connection.
// Package buffered does, and keeps what comes meanwhile.
//
// Start reading at Open (open.go), then Append (append.go). chain.go is the hash chain, lock.go the
// one writer per session, wal.go what Close leaves, remove.go how words go for ever, backup.go a
// copy, rescue.go what happens to a damaged file, memory.go the store without a disk, texts.go the
// large texts of entries, which are stored once.
//
// Beside the database lie PATH-wal and PATH-shm (SQLite's log, which a short run leaves for the
// next, and its index), PATH.lock (held, shared, by every process that has it open), PATH.locks/
// (one file per session being written), PATH.check (left by a process that met damage) and
// PATH.damaged-TIME (a damaged file that was put aside).
//
// Known limits:
//   - A large text is put back as often as entries name it: loading takes the memory of the whole
//     log.
//   - A chain without an anchor elsewhere shows changes by others, not a rewrite by the owner.
//   - Of a damaged file only what SQLite can still read from the beginning of a session is copied.
//     The old file is kept: sqlite3 FILE .recover may find more.
//   - Calls wait for each other: one connection serves a process.
//   - PATH and PATH-wal belong together: a copy takes both, and a backup put back over PATH wants
//     PATH-wal removed. Without PATH-wal the newest entries are missing, which nobody tells.
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

// Sentinels beside those of session.
var (
	// ErrNotSaved is the answer to every Append after a failed commit.
	ErrNotSaved = errors.New("the session is no longer saved")
	// ErrReadOnly is the answer to Append and Lock when a newer adze wrote the database.
	ErrReadOnly = errors.New("the session store is read-only")
	// ErrDamaged says that rows could not be read. The next Open checks the file and puts it aside.
	ErrDamaged = errors.New("the session store is damaged")
	// ErrOpen marks an error of opening or reading the store before a run began.
	ErrOpen = errors.New("the session store could not be opened")
	// ErrClosed is the answer of a closed store.
	ErrClosed = errors.New("the session store is closed")
)

// Options changes what Open uses; the zero value is right outside tests.
type Options struct {
	Now     func() time.Time       // names a damaged file that is put aside; if nil, time.Now
	Network func(path string) bool // reports a network file system; if nil, asks the kernel (Linux only)
	Wait    func(time.Duration)    // before a lock that is held is tried again; if nil, time.Sleep
	// Mask takes secrets out of an entry before it is written; if nil, entries are stored as they
	// come. It gives the same for the same, and for what it gave leaves it.
	Mask func(session.ID, session.Entry) session.Entry
}

// Store implements session.Store. It is safe for concurrent use.
type Store struct {
	path    string
	options Options
	leave   func()      // unlocks PATH.lock, which is shared; if nil, the store is only looked at
	file    os.FileInfo // the database when it was opened
	log     os.FileInfo // its write-ahead log after the first commit; if nil, there is none
	copied  string      // the folder of a copy that is looked at in its place
	db      *sql.DB
	loss    *Loss
	frozen  error // why nothing can be written; if nil, it can
	whole   bool  // Close leaves all in the one file, synced

	mu      sync.Mutex // guards what follows, and makes an Append one step
	closed  bool
	writers map[session.ID]*writer
	// verdicts has what Stream found of the chains that it read, nil where they are sound.
	verdicts map[session.ID]*BadRow
	inserts  [mostTogether]*sql.Stmt // of one entry, of two …; made when they are first needed
}

var _ session.Store = (*Store)(nil)

// Loss tells what could not be read of a damaged file. Kept is where that file is now.
type Loss struct {
	Kept     string
	Cause    string   // what was wrong with the old file
	Sessions int      // brought over
	Entries  int      // brought over
	Missing  []string // one line for each session with missing entries
}

func (l Loss) String() string {
	text := fmt.Sprintf("the session store was damaged (%s); %d entries of %d sessions were saved, the old file is %s (sqlite3 FILE .recover may find more)",
		l.Cause, l.Entries, l.Sessions, l.Kept)
	for _, m := range l.Missing {
		text += "\n" + m
	}
	return text
}

// Salvaged is what Open had to leave behind; if nil, the file was sound.
func (s *Store) Salvaged() *Loss { return s.loss }

// Path is where the database is.
func (s *Store) Path() string { return s.path }

// Owner gives a store into the hands of its owner.
func (s *Store) Owner() Owner { return Owner{s} }

// Close gives up all locks and the database. Calls after it fail with ErrClosed.
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
	_ = s.keepLog(context.Background()) // without it, closing folds the log in
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
