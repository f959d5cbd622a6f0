package sessiondb

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/osfile/filelock"
	"adze/session"
)

// writer is a session this process may append to, with its chain's end.
type writer struct {
	id    session.ID
	lock  *os.File
	num   int64 // 0 if not in the database yet
	end   link
	start bool  // the start entry is stored in the opening
	first bool  // the first message is
	lost  error // a commit failed; no more appends
}

// writer returns the writer of id, creating and locking it on first use. The caller holds s.mu.
func (s *Store) writer(ctx context.Context, id session.ID) (*writer, error) {
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.frozen != nil:
		return nil, s.frozen
	case id == "":
		return nil, errNoID()
	}
	if w := s.writers[id]; w != nil {
		return w, nil
	}
	lock, err := s.acquire(id)
	if err != nil {
		return nil, err
	}
	w := &writer{id: id, lock: lock}
	if err := s.resume(ctx, w); err != nil {
		return nil, errors.Join(err, w.release())
	}
	s.writers[id] = w
	return w, nil
}

// resume reads the chain's end. It runs after locking, since another process may have just left.
// For a new session, the usual case at a start, it costs one index lookup.
func (s *Store) resume(ctx context.Context, w *writer) error {
	row := s.db.QueryRowContext(ctx, "SELECT num, entries, tip FROM sessions WHERE id = ?", string(w.id))
	err := row.Scan(&w.num, &w.end.seq, &w.end.hash)
	if err == nil {
		row = s.db.QueryRowContext(ctx, "SELECT start IS NOT NULL, first IS NOT NULL AND substr(first, 1, ?) <> ? FROM openings WHERE session = ?",
			len(copiedMark), copiedMark, w.num)
		err = row.Scan(&w.start, &w.first)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return s.explain("read", err)
	}
	return nil
}

// lockTries limits how often a lock file may vanish between opening and locking it.
const lockTries = 100

// A killed process holds its locks until the kernel has torn it down: some milliseconds, or seconds
// on a busy machine. A process that starts right after it waits.
const (
	lockPause      = 5 * time.Millisecond
	lockPatience   = 400 * time.Millisecond
	endingPatience = 5 * time.Second // for a holder that is no longer alive
)

func (s *Store) pause(d time.Duration) {
	if s.options.Wait != nil {
		s.options.Wait(d)
		return
	}
	time.Sleep(d)
}

// alive reports whether a lock's holder still runs, as far as known.
func alive(who string) bool {
	var pid int
	var host string
	if _, err := fmt.Sscanf(who, "pid %d on %s", &pid, &host); err != nil {
		return true
	}
	if here, err := os.Hostname(); err == nil && here != host {
		return true
	}
	return Running(pid)
}

// acquire takes the lock file of id. The holder removes the file at the end, so a lock only counts
// if the file is still the one at its path.
func (s *Store) acquire(id session.ID) (*os.File, error) {
	path := s.lockPath(id)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, s.fileError("make the folder of its locks", err)
	}
	waited := time.Duration(0)
	for tries := 0; tries < lockTries; {
		// Open for writing, so closing the file is an event for watchers of the folder.
		lock, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, s.fileError("lock the session", err)
		}
		err = filelock.TryFile(lock)
		held := err == nil
		if held && samePath(lock, path) {
			return lock, s.sign(lock)
		}
		_ = lock.Close() // the file is gone or locked by another process
		if err != nil && !errors.Is(err, filelock.ErrHeld) {
			return nil, s.fileError("lock the session", err)
		}
		if held {
			tries++
			continue
		}
		who := holder(path)
		if waited >= lockPatience && (waited >= endingPatience || alive(who)) {
			return nil, fmt.Errorf("%w: %s has it; end that one, or go on with a copy (--fork)", session.ErrLocked, who)
		}
		s.pause(lockPause)
		waited += lockPause
	}
	return nil, fmt.Errorf("%w: its lock file %s changes hands all the time; try again", session.ErrLocked, path)
}

// Position returns the number of a session's newest entry written by this process, or 0.
func (s *Store) Position(id session.ID) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.writers[id]; w != nil {
		return w.end.seq
	}
	return 0
}

// Locks returns the folder of lock files, which may not exist yet.
func (s *Store) Locks() string { return s.path + ".locks" }

func (s *Store) lockPath(id session.ID) string {
	return filepath.Join(s.Locks(), lockName(id))
}

// Holder describes the process that writes id, or returns "".
func (s *Store) Holder(id session.ID) string {
	path := s.lockPath(id)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	unlock, err := filelock.TryShare(path)
	if errors.Is(err, filelock.ErrHeld) {
		return holder(path)
	}
	if err == nil {
		unlock()
	}
	return ""
}

func samePath(lock *os.File, path string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}

// sign writes the holder into the lock file, for another process's error message.
func (s *Store) sign(lock *os.File) error {
	if err := s.write(lock.Name()); err != nil {
		return errors.Join(s.fileError("sign the session's lock", err), lock.Close())
	}
	return nil
}

// write writes this process's name into a file.
func (s *Store) write(path string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return os.WriteFile(path, fmt.Appendf(nil, "pid %d on %s", os.Getpid(), host), 0o600)
}

func holder(path string) string {
	text, _ := os.ReadFile(path) // an unreadable or unsigned file is handled below
	if name := strings.TrimSpace(string(text)); name != "" && len(name) < 300 {
		return name
	}
	return "another process"
}

// lockName makes a user-chosen ID safe as a file name.
func lockName(id session.ID) string {
	plain := func(r rune) bool {
		return r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if len(id) <= 64 && strings.IndexFunc(string(id), func(r rune) bool { return !plain(r) }) < 0 {
		return string(id)
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:]) + ".id"
}

func (w *writer) release() error {
	_ = os.Remove(w.lock.Name()) // while locked, so nobody else can hold it; a leftover file does no harm
	return w.lock.Close()
}
