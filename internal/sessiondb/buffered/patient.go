// Package buffered provides a store that holds entries in memory while they cannot be saved.
//
// The one rule: an entry that is not stored is never reported as stored. Waiting entries are
// counted and reported, keep the log's order, and are stored once. Meanwhile nothing may have an
// effect: an intent, or the beginning of an undo, is stored at once or refused.
//
// Start reading at Store.Append, then flush. Saving is retried with each entry, after a pause that
// grows from a second to half a minute, and at the end.
//
// Known limits: waiting entries are lost if the process is killed. A hanging disk, such as one on a
// network, makes the session hang.
package buffered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
)

// RetryStore is a store that can continue after a failed append.
type RetryStore interface {
	session.Store
	// Reopen lets id be written again. landed reports whether the failed append's entries are stored
	// after all.
	Reopen(ctx context.Context, id session.ID) (landed bool, err error)
	// Rewrite writes a whole log if its store was deleted.
	Rewrite(ctx context.Context, id session.ID, waiting []session.Entry) error
}

// Options configure a Store. The zero value is right outside tests.
type Options struct {
	MaxWaiting int                                                // maximum waiting bytes of all sessions; 0 means mostBytes
	After      func(d time.Duration, f func()) (stop func() bool) // calls f once; nil uses a timer
}

// mostBytes is enough for hours of work, and a small machine can spare it.
const mostBytes = 32 << 20

// The pause before saving is retried without a new entry.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// A Store implements session.Store on top of another one. It is safe for concurrent use.
type Store struct {
	RetryStore
	options Options

	mu    sync.Mutex
	logs  map[session.ID]*backlog // of the sessions with unsaved entries
	cause error
	pause time.Duration
	stop  func() bool // stops the timer

	telling sync.Mutex
	observe func(session.Event)
	told    session.Unsaved
	settled func() error
}

// backlog holds one session's waiting entries, one batch per append.
type backlog struct {
	batches   [][]session.Entry
	submitted bool // the first batch was passed to the store, which may have saved it
}

// New returns a buffering store over below.
func New(below RetryStore, o Options) *Store {
	if o.MaxWaiting == 0 {
		o.MaxWaiting = mostBytes
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	s := &Store{RetryStore: below, options: o, logs: map[session.ID]*backlog{}}
	s.settled = sync.OnceValue(s.settle)
	return s
}

// Stream calls the Stream of the store below.
func (s *Store) Stream(ctx context.Context, id session.ID, each func(session.Entry) error) error {
	return session.Stream(ctx, s.RetryStore, id, each)
}

// Back calls the Back of the store below.
func (s *Store) Back(ctx context.Context, id session.ID, types []session.EntryType, each func(session.Entry) (more bool)) error {
	return session.Back(ctx, s.RetryStore, id, types, each)
}

// Append saves entries, or holds them until they can be saved. On an error it holds none: there was
// an intent among them, or the limit was reached.
func (s *Store) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	s.mu.Lock()
	err := s.append(ctx, id, entries)
	s.mu.Unlock()
	s.tell()
	return err
}

func (s *Store) append(ctx context.Context, id session.ID, entries []session.Entry) error {
	if s.logs[id] != nil {
		s.flush(ctx)
	}
	log, handed := s.logs[id], false
	if log == nil {
		err := s.RetryStore.Append(ctx, id, entries...)
		if err == nil || !passes(err, entries) {
			return err
		}
		s.cause, log, handed = err, &backlog{}, true
		s.logs[id] = log
	}
	defer s.later()
	size := bytesOf(entries)
	switch _, waiting := s.waiting(); {
	case slices.ContainsFunc(entries, begins):
		return fmt.Errorf("nothing is changed while the session cannot be saved: %w", s.cause)
	case waiting+size > s.options.MaxWaiting:
		return fmt.Errorf("no more can wait to be saved: %w", s.cause)
	}
	log.batches, log.submitted = append(log.batches, slices.Clone(entries)), log.submitted || handed
	return nil
}

// begins reports whether an entry must be stored before something is changed.
func begins(e session.Entry) bool {
	var u session.UndoData
	return e.Type == session.IntentEntry || e.Type == session.UndoEntry && json.Unmarshal(e.Data, &u) == nil && u.Stage() == session.UndoBegun
}

// passes reports whether a failure may be temporary, such as a full disk.
func passes(err error, entries []session.Entry) bool {
	for _, final := range []error{session.ErrLocked, session.ErrNotFound, sessiondb.ErrReadOnly, sessiondb.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, final) {
			return false
		}
	}
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e session.Entry) bool { return len(e.Data) > 0 && !json.Valid(e.Data) })
}

// flush saves the waiting entries as far as possible. The caller holds s.mu.
func (s *Store) flush(ctx context.Context) {
	for id, log := range s.logs {
		if err := s.save(ctx, id, log); err != nil {
			s.cause = err
			continue
		}
		delete(s.logs, id)
	}
	if len(s.logs) == 0 {
		s.cause, s.pause = nil, 0
	}
}

// save stores one session's waiting entries in one append.
func (s *Store) save(ctx context.Context, id session.ID, log *backlog) error {
	landed, err := s.RetryStore.Reopen(ctx, id)
	if err != nil {
		return err
	}
	if log.submitted && landed {
		log.batches = log.batches[1:]
	}
	log.submitted = false
	if len(log.batches) == 0 {
		return nil
	}
	all := slices.Concat(log.batches...)
	if err := s.RetryStore.Append(ctx, id, all...); err != nil {
		log.batches, log.submitted = [][]session.Entry{all}, true
		return err
	}
	return nil
}

// later schedules the next attempt. The caller holds s.mu.
func (s *Store) later() {
	if len(s.logs) == 0 || s.stop != nil {
		return
	}
	s.pause = min(max(2*s.pause, firstPause), lastPause)
	s.stop = s.options.After(s.pause, func() {
		s.mu.Lock()
		if s.stop != nil { // Settle may have come first
			s.stop = nil
			s.flush(context.Background())
			s.later()
		}
		s.mu.Unlock()
		s.tell()
	})
}

// The caller holds s.mu.
func (s *Store) waiting() (entries, bytes int) {
	for _, log := range s.logs {
		for _, batch := range log.batches {
			entries, bytes = entries+len(batch), bytes+bytesOf(batch)
		}
	}
	return entries, bytes
}

func bytesOf(entries []session.Entry) (n int) {
	for _, e := range entries {
		n += len(e.Data) + 64
	}
	return n
}

// Unsaved returns the numbers of waiting entries and bytes.
func (s *Store) Unsaved() session.Unsaved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsaved()
}

func (s *Store) unsaved() (u session.Unsaved) {
	u.Entries, u.Bytes = s.waiting()
	if len(s.logs) > 0 && s.cause != nil {
		u.Cause = s.cause.Error()
	}
	return u
}

// Watch sends events to observe, one at a time: an Unsaved at every change, and a notice when
// waiting begins and ends. observe must not use the store.
func (s *Store) Watch(observe func(session.Event)) {
	if s == nil {
		return
	}
	s.telling.Lock()
	s.observe = observe
	s.telling.Unlock()
	s.tell()
}

// tell sends an event if the number of waiting entries has changed.
func (s *Store) tell() {
	s.telling.Lock()
	defer s.telling.Unlock()
	now := s.Unsaved()
	before := s.told
	if s.observe == nil || now.Entries == before.Entries && now.AllSaved() == before.AllSaved() {
		return
	}
	s.told = now
	s.observe(now)
	if now.AllSaved() != before.AllSaved() {
		s.observe(session.Notice{Text: now.String()})
	}
}

// Judge turns a run's result into a failure if entries could not be saved.
func (s *Store) Judge(r session.Result) session.Result {
	if s == nil {
		return r
	}
	err := s.Flush()
	if err == nil || r.Cause == session.CauseInterrupted || r.Cause == session.CauseTerminated {
		return r
	}
	r.Cause, r.Message, r.Err = session.CauseStore, err.Error(), err
	r.Hint = session.StoreHint(err) + ", then run adze --continue"
	return r
}

// Flush makes a last attempt to save the waiting entries. If their store was deleted, it writes a
// new one. The error lists unsaved entries, or reports the new store.
func (s *Store) Flush() error {
	if s == nil {
		return nil
	}
	return s.settled()
}

func (s *Store) settle() error {
	ctx := context.Background()
	s.mu.Lock()
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	if len(s.logs) > 0 {
		s.flush(ctx)
	}
	var anew error
	for id, log := range s.logs {
		if s.RetryStore.Rewrite(ctx, id, slices.Concat(log.batches...)) == nil {
			anew = fmt.Errorf("%w; what is known of this session was saved there anew", s.cause)
			delete(s.logs, id)
		}
	}
	u, cause := s.unsaved(), s.cause
	s.mu.Unlock()
	s.tell()
	if u.Entries > 0 && cause != nil {
		return fmt.Errorf("%d entries of the session are not saved: %w", u.Entries, cause)
	}
	return anew
}
