package search

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"adze/internal/files/search/match"
	"adze/internal/files/search/sign"
)

// Signs knows of a workspace which files need not be read for a search (package sign). It learns
// behind searches and never makes one wait: what it does not know, or not any more, is read. Safe
// for concurrent use; nil knows nothing.
type Signs struct {
	folder sign.Folder
	root   string
	after  int              // files of a search after which it learns
	now    func() time.Time // the clock of the files' times

	mu       sync.Mutex
	table    *sign.Table
	version  sign.Version
	stop     context.CancelFunc // of the learning that goes on; if nil, none does
	learned  chan struct{}      // closed at the end of it
	next     time.Time          // not before then another time
	closed   bool
	attempts int // that failed, one after another
}

// Bounds of learning.
const (
	// signsAfter is how many files make it worth while: fewer are searched in some milliseconds.
	signsAfter = 2000
	// signsRest is how much longer than it took the next learning waits, and at least this time.
	signsRest      = 20
	signsRestLeast = 30 * time.Second
	// signsFew is how many unknown files are left unknown, beside a fiftieth of all.
	signsFew = 200
	// signsFailures is after how many the user's cache folder is left alone.
	signsFailures = 3
	// closeGrace is how long Close waits for what was learned to be written.
	closeGrace = 300 * time.Millisecond
)

// NewSigns keeps signatures of the tree root in a folder, which is made when it is needed.
func NewSigns(folder, root string) *Signs {
	return &Signs{folder: sign.Folder{Path: folder}, root: root, after: signsAfter, now: time.Now}
}

// Close ends learning; what was learned so far is kept.
func (s *Signs) Close() error {
	s.mu.Lock()
	s.closed = true
	learned := s.learned
	if s.stop != nil {
		s.stop()
	}
	s.mu.Unlock()
	if learned == nil {
		return nil
	}
	grace := time.NewTimer(closeGrace)
	defer grace.Stop()
	select {
	case <-learned:
	case <-grace.C:
	}
	return nil
}

// knowledge is what one search knows of files. The zero value is nothing.
type knowledge struct {
	rejects *sign.Rejects
	now     time.Time // when it began
}

// knowledge is what a search of t for m need not read.
func (s *Signs) knowledge(t Tree, m *match.Matcher) knowledge {
	if s == nil {
		return knowledge{}
	}
	return knowledge{rejects: s.rejects(t, m), now: s.now()}
}

// rejects are the files that a search of t for m need not read; if nil, all are read.
func (s *Signs) rejects(t Tree, m *match.Matcher) *sign.Rejects {
	if t.Root != s.root && !strings.HasPrefix(t.Root, strings.TrimSuffix(s.root, "/")+"/") {
		return nil
	}
	at, ok := sign.PlaceOf(s.root)
	if !ok {
		return nil
	}
	table, version := s.current(at)
	if table == nil || !table.Whole() || s.now().Before(table.Made()) {
		return nil // or the clock was set back: times of files may come a second time
	}
	need := sign.Needed(m.String())
	if need == nil {
		return nil
	}
	r := table.Reject(need, t.Folders.marks() > table.Files()/2)
	if s.folder.Version(at) != version {
		return nil // somebody wrote into it while it was read
	}
	return r
}

// current is the newest table there is, also one that another process wrote.
func (s *Signs) current(at sign.Place) (*sign.Table, sign.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.folder.Version(at); v != s.version {
		s.version = v
		s.table, _ = s.folder.Open(at) // one that cannot be used is none
	}
	return s.table, s.version
}

// Learn learns t, whose root is the workspace, now and however small it is. Searches do that by
// themselves.
func (s *Signs) Learn(ctx context.Context, t Tree) error {
	at, ok := sign.PlaceOf(s.root)
	if !ok {
		return errors.ErrUnsupported
	}
	return s.write(ctx, t, at)
}

// searched is told how a search of t went, and may begin to learn.
func (s *Signs) searched(t Tree, seekers []*seeker) {
	if s == nil || t.Root != s.root {
		return
	}
	files, unknown := 0, 0
	for _, seeker := range seekers {
		files += seeker.r.Searched + seeker.r.Binary.Count
		unknown += seeker.unknown
	}
	if files < s.after {
		return
	}
	at, ok := sign.PlaceOf(s.root)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	enough := s.table == nil || !s.table.Whole() || unknown > signsFew+s.table.Files()/50 && !s.table.Full() || s.now().Before(s.table.Made())
	if !enough || s.closed || s.stop != nil || s.attempts >= signsFailures || time.Now().Before(s.next) {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.learned = stop, make(chan struct{})
	t.Visited = nil
	go s.learn(ctx, t, at)
}

// learn makes a new table of what the old one knows and of what is there now.
func (s *Signs) learn(ctx context.Context, t Tree, at sign.Place) {
	start := time.Now()
	err := s.write(ctx, t, at)
	if errors.Is(err, sign.ErrBusy) {
		err = nil // the other process's table will do
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	s.stop = nil
	s.next = time.Now().Add(max(signsRestLeast, signsRest*time.Since(start)))
	if s.attempts++; err == nil {
		s.attempts = 0
	}
	close(s.learned)
}

func (s *Signs) write(ctx context.Context, t Tree, at sign.Place) error {
	old, version := s.current(at)
	draft, err := s.folder.Begin(at, s.now())
	if err != nil {
		return err
	}
	b := &signer{tree: t, w: draft.Writer, at: at, old: old, now: s.now}
	err = b.run(ctx)
	switch {
	case err != nil && (ctx.Err() == nil || b.fresh == 0):
	case s.folder.Version(at) != version: // somebody wrote into the old one, so what was taken over may be wrong
		err = errors.New("the table changed while it was read")
	default:
		return draft.Finish(err == nil)
	}
	draft.Drop()
	return err
}
