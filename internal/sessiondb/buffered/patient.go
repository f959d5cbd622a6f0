// Package buffered is a store that waits: what cannot be saved now is kept in memory and saved when
// that is possible again.
//
// The one rule: what is not stored is never called stored. Entries that wait are counted and told
// of, their order is that of the log, none is stored twice; and nothing may have an effect
// meanwhile: an intent, and the beginning of an undo, is stored at once or refused.
//
// Start reading at Store.Append, then flush. Saving is tried again with each entry, after a pause
// that grows from a second to half a minute, and at the end.
//
// Known limits: what waits is lost with a process that is killed. A disk that hangs, as one behind
// a network may, has the session hang with it.
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

// Again is a store that can be asked to go on after an append failed.
type Again interface {
	session.Store
	// Again lets id be written once more. Landed says that what was handed to the append that
	// failed is stored after all.
	Again(ctx context.Context, id session.ID) (landed bool, err error)
	// Anew writes a log whole where its store was removed; its error says why not.
	Anew(ctx context.Context, id session.ID, waiting []session.Entry) error
}

// Options are what a Store needs beside the one below; the zero value is right outside tests.
type Options struct {
	Most  int                                                // bytes that may wait, of all sessions; if 0, mostBytes
	After func(d time.Duration, f func()) (stop func() bool) // calls f once; if nil, a timer
}

// mostBytes is what may wait: hours of work, and no more than a small machine can spare.
const mostBytes = 32 << 20

// The pause before saving is tried again when nothing happens.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// Store implements session.Store over another one. It is safe for concurrent use.
type Store struct {
	Again
	options Options

	mu    sync.Mutex
	logs  map[session.ID]*backlog // of the sessions of which something could not be saved
	cause error
	pause time.Duration
	stop  func() bool // the timer

	telling sync.Mutex
	observe func(session.Event)
	told    session.Unsaved
	settled func() error
}

// backlog is what waits of one session, an append a batch.
type backlog struct {
	batches [][]session.Entry
	handed  bool // the first batch was handed to the store, which may have it
}

// New makes a patient store of one.
func New(below Again, o Options) *Store {
	if o.Most == 0 {
		o.Most = mostBytes
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	s := &Store{Again: below, options: o, logs: map[session.ID]*backlog{}}
	s.settled = sync.OnceValue(s.settle)
	return s
}

// Stream reads as the store below does.
func (s *Store) Stream(ctx context.Context, id session.ID, each func(session.Entry) error) error {
	return session.Stream(ctx, s.Again, id, each)
}

// Back reads as the store below does.
func (s *Store) Back(ctx context.Context, id session.ID, types []session.EntryType, each func(session.Entry) (more bool)) error {
	return session.Back(ctx, s.Again, id, types, each)
}

// Append saves entries, or keeps them until that can be done. After an error nothing was kept:
// there was an intent among them, or no more may wait.
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
		err := s.Again.Append(ctx, id, entries...)
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
	case waiting+size > s.options.Most:
		return fmt.Errorf("no more can wait to be saved: %w", s.cause)
	}
	log.batches, log.handed = append(log.batches, slices.Clone(entries)), log.handed || handed
	return nil
}

// begins reports an entry that has to be stored before something is changed.
func begins(e session.Entry) bool {
	var u session.Undone
	return e.Type == session.IntentEntry || e.Type == session.UndoEntry && json.Unmarshal(e.Data, &u) == nil && u.Stage() == session.UndoBegun
}

// passes reports a failure that may pass: a disk, not a mistake.
func passes(err error, entries []session.Entry) bool {
	for _, final := range []error{session.ErrLocked, session.ErrNotFound, sessiondb.ErrReadOnly, sessiondb.ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, final) {
			return false
		}
	}
	return len(entries) > 0 && !slices.ContainsFunc(entries, func(e session.Entry) bool { return len(e.Data) > 0 && !json.Valid(e.Data) })
}

// flush saves what waits, as far as that is possible now. The caller holds s.mu.
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

// save stores what waits of one session, in one append.
func (s *Store) save(ctx context.Context, id session.ID, log *backlog) error {
	landed, err := s.Again.Again(ctx, id)
	if err != nil {
		return err
	}
	if log.handed && landed {
		log.batches = log.batches[1:]
	}
	log.handed = false
	if len(log.batches) == 0 {
		return nil
	}
	all := slices.Concat(log.batches...)
	if err := s.Again.Append(ctx, id, all...); err != nil {
		log.batches, log.handed = [][]session.Entry{all}, true
		return err
	}
	return nil
}

// later tries again after a while. The caller holds s.mu.
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

// waiting counts. The caller holds s.mu.
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

// Unsaved is what waits now.
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

// Watch has events tell how much waits, from now on, one at a time: Unsaved whenever that changes,
// and a notice when it begins and when it is over. Observe must not use the store.
func (s *Store) Watch(observe func(session.Event)) {
	if s == nil {
		return
	}
	s.telling.Lock()
	s.observe = observe
	s.telling.Unlock()
	s.tell()
}

// tell says how much waits, when that has changed.
func (s *Store) tell() {
	s.telling.Lock()
	defer s.telling.Unlock()
	now := s.Unsaved()
	before := s.told
	if s.observe == nil || now.Entries == before.Entries && now.Over() == before.Over() {
		return
	}
	s.told = now
	s.observe(now)
	if now.Over() != before.Over() {
		s.observe(session.Notice{Text: now.String()})
	}
}

// Judge turns the result of a run into a failure when something could not be saved to its end.
func (s *Store) Judge(r session.Result) session.Result {
	if s == nil {
		return r
	}
	err := s.Settle()
	if err == nil || r.Cause == session.CauseInterrupted || r.Cause == session.CauseTerminated {
		return r
	}
	r.Cause, r.Message, r.Err = session.CauseStore, err.Error(), err
	r.Hint = session.StoreHint(err) + ", then run adze --continue"
	return r
}

// Settle tries a last time to save what waits, once. What cannot be saved where its store was
// removed is written there anew. Its error says what was not saved, or how.
func (s *Store) Settle() error {
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
		if s.Again.Anew(ctx, id, slices.Concat(log.batches...)) == nil {
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
