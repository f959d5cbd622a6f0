// Package tail reads along in a session that another process writes, and has it let go.
//
// The one rule: whoever reads along writes nothing to the log. Who wants to go on with the session
// leaves a note beside its lock; the one who holds it ends its turn, lets go and reads along
// itself.
//
// Start reading at Follower.Run; Heed is the side of the process that holds the session, Take that
// of the one that wants it.
//
// Known limits: of an answer that arrives, what is shown is as old as its last fragment in the log,
// a second. What was shown of a running call, and of questions, is on the screen of the other
// process alone. A run without a terminal lets go at its end.
package tail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"adze/internal/files/fsnotify"
	"adze/internal/sessiondb"
	"adze/session"
)

// Every is how often a Follower looks while something happens, and where the system does not tell
// of changes: four calls of the system and no read of the log when there is nothing new.
const Every = 250 * time.Millisecond

// Follower reads along.
type Follower struct {
	Store *sessiondb.Store
	ID    session.ID
	Emit  func(session.Event)
	// Held is called when what was there is read, and whenever the session changes hands: who has it,
	// if empty, nobody has had it for two seconds. If nil, nobody cares, and Run ends when nobody has
	// it.
	Held func(who string)
	// Wait sleeps; its error is that of ctx. If nil, a timer, and no sleep but for an event while
	// nothing happens.
	Wait func(ctx context.Context, d time.Duration) error

	bell  *fsnotify.Bell
	deaf  bool // the system does not tell of changes here
	woken bool // the last look was for an event
	fresh bool // the last look found something

	seq  int64
	seen [2]mark
	who  string
	had  string // who was told to have it
	told bool
	free int // looks that found nobody, in a row
}

// mark tells one state of a file from another.
type mark struct {
	size int64
	time time.Time
}

// Run emits what is in the log, and then what comes, until ctx ends, or nobody has the session and
// Held is nil: then it returns nil.
func (f *Follower) Run(ctx context.Context) error {
	if f.Wait == nil {
		f.Wait = f.rest
		defer f.silence()
	}
	for {
		f.who = f.Store.Holder(f.ID)
		if f.fresh = f.changed(); f.fresh {
			if err := f.read(ctx); err != nil {
				return err
			}
		}
		if f.Held == nil && f.who == "" {
			return nil
		}
		f.tell()
		if err := f.Wait(ctx, Every); err != nil {
			return err
		}
	}
}

// loose is how many looks in a row find nobody before that is told: a session that changes hands is
// free for a moment.
const loose = 8

func (f *Follower) tell() {
	if f.free++; f.who != "" {
		f.free = 0
	}
	if f.Held == nil || f.told && f.who == f.had || f.who == "" && f.free != loose {
		return
	}
	f.told, f.had = true, f.who
	f.Held(f.who)
}

// rest sleeps, and, when nothing is to come by itself, until something happens. After an event it
// sleeps once more: the kernel tells of the end of a holder before it gives up the lock.
func (f *Follower) rest(ctx context.Context, d time.Duration) error {
	if f.bell == nil && !f.deaf {
		bell, err := fsnotify.NewBell(filepath.Dir(f.Store.Path()), f.Store.Locks())
		f.bell, f.deaf = bell, err != nil && !errors.Is(err, fs.ErrNotExist)
		if err == nil {
			f.seen = [2]mark{} // something may have happened since the last look
			return ctx.Err()
		}
	}
	settled := !f.fresh && (f.who != "" || f.free > loose)
	if f.bell == nil || !settled || f.woken {
		f.woken = false
		return wait(ctx, d)
	}
	select {
	case <-f.bell.C:
		// The time of a file has steps of some milliseconds: two writes may show as one.
		f.woken, f.seen = true, [2]mark{}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// silence ends the watch.
func (f *Follower) silence() {
	if f.bell != nil {
		f.bell.Close()
	}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// changed reports that the database was written to. Who has just let go may have written last.
func (f *Follower) changed() bool {
	now := [2]mark{markOf(f.Store.Path()), markOf(f.Store.Path() + "-wal")}
	same := now == f.seen
	f.seen = now
	return !same || f.who == "" && f.free == 0
}

func markOf(path string) mark {
	info, err := os.Stat(path)
	if err != nil {
		return mark{size: -1}
	}
	return mark{info.Size(), info.ModTime()}
}

func (f *Follower) read(ctx context.Context) error {
	return f.Store.Each(ctx, sessiondb.Scan{Session: f.ID, After: f.seq}, func(found sessiondb.Found) error {
		f.seq = found.Seq
		for _, e := range Events(found.Entry) {
			f.Emit(e)
		}
		return ctx.Err()
	})
}

// patience is how long Take waits for a process that ends its turn.
const patience = 30 * time.Second

// ErrHolds says that the other process has not let go yet.
var ErrHolds = errors.New("it has not let go of the session yet")

// Take asks who holds a session to let go, and waits until nobody holds it. A process that is dead
// holds nothing.
func Take(ctx context.Context, s *sessiondb.Store, id session.ID) error {
	if s.Holder(id) == "" {
		return nil
	}
	undo, err := s.Want(id)
	if err != nil {
		return err
	}
	for waited := time.Duration(0); waited < patience; waited += Every / 5 {
		if s.Holder(id) == "" {
			return nil
		}
		if err := wait(ctx, Every/5); err != nil {
			return err
		}
	}
	undo()
	return fmt.Errorf("%s: %w; a run without a terminal does when it ends", s.Holder(id), ErrHolds)
}

// wantedError ends what is done in a session that another process wants.
type wantedError struct{ who string }

func (e *wantedError) Error() string { return "the session goes on in " + e.who }

// Heed ends the context that it returns when another process wants the session. Who tells which
// one; if empty, none.
func Heed(ctx context.Context, s *sessiondb.Store, id session.ID) (heeding context.Context, who func() string, stop func()) {
	heeding, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = os.MkdirAll(s.Locks(), 0o700) // the first session is locked later; without the folder, it is looked
		next, end := fsnotify.EntryWaiter(2*Every, s.Locks())
		defer end()
		for {
			if who := s.Wanted(id); who != "" {
				cancel(&wantedError{who})
			}
			if next(heeding) != nil {
				return
			}
		}
	}()
	who = func() string {
		var wanted *wantedError
		if errors.As(context.Cause(heeding), &wanted) {
			return wanted.who
		}
		return ""
	}
	return heeding, who, func() { cancel(nil); <-done }
}
