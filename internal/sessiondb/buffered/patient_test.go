package buffered_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/internal/sessiondb/buffered"
	"adze/session"
)

// disk is a store whose commits fail as the test says: before they are made, or after.
type disk struct {
	*sessiondb.Memory
	mu     sync.Mutex
	fails  bool
	landed bool // what was handed to the append that failed is stored all the same
	lost   bool
	why    error       // of what fails; if nil, errFull
	after  func() bool // says whether the next append fails after it was stored
}

var errFull = errors.New("the disk is full")

func (d *disk) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost {
		return fmt.Errorf("%w: %w", sessiondb.ErrNotSaved, d.failure())
	}
	if !d.fails {
		return d.Memory.Append(ctx, id, entries...)
	}
	d.lost = true
	if d.landed = d.after != nil && d.after(); d.landed {
		_ = d.Memory.Append(ctx, id, entries...)
	}
	return d.failure()
}

func (d *disk) failure() error {
	if d.why != nil {
		return d.why
	}
	return errFull
}

func (d *disk) Reopen(context.Context, session.ID) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.lost {
		return false, nil
	}
	if d.fails {
		return false, d.failure()
	}
	d.lost = false
	return d.landed, nil
}

func (d *disk) Rewrite(context.Context, session.ID, []session.Entry) error { return errFull }

func (d *disk) fill(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = full
}

func said(n int) session.Entry {
	return session.Entry{Type: session.MessageEntry, Data: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// rig is a patient store over such a disk, with a timer that the test rings.
type rig struct {
	*buffered.Store
	disk  *disk
	ring  func()
	pause time.Duration
	heard []session.Event
}

func newRig(o buffered.Options) *rig {
	r := &rig{disk: &disk{Memory: sessiondb.NewMemory()}}
	o.After = func(d time.Duration, f func()) func() bool {
		r.pause, r.ring = d, f
		return func() bool { r.ring = nil; return true }
	}
	r.Store = buffered.New(r.disk, o)
	r.Watch(func(e session.Event) { r.heard = append(r.heard, e) })
	return r
}

// wants checks what is stored: each number once, in order.
func (r *rig) wants(t *testing.T, to int) {
	t.Helper()
	entries, err := r.disk.Load(t.Context(), "one")
	var got []string
	for _, e := range entries {
		got = append(got, string(e.Data))
	}
	var want []string
	for n := range to {
		want = append(want, string(said(n+1).Data))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("stored are %v, want %v (%v)", got, want, err)
	}
}

func TestWhatCannotBeSavedWaitsAndIsSavedOnce(t *testing.T) {
	for _, after := range []bool{false, true} {
		r := newRig(buffered.Options{})
		r.disk.after = func() bool { return after }
		put := func(n int) {
			t.Helper()
			if err := r.Append(t.Context(), "one", said(n)); err != nil {
				t.Fatal(err)
			}
		}
		put(1)
		r.disk.fill(true)
		put(2)
		put(3)
		if u := r.Unsaved(); u.Entries != 2 || !strings.Contains(u.Cause, "disk is full") {
			t.Errorf("it says %+v", u)
		}
		if err := r.Append(t.Context(), "one", session.Entry{Type: session.IntentEntry, Data: []byte(`{}`)}); !errors.Is(err, errFull) {
			t.Errorf("an intent: %v", err)
		}
		pause := r.pause
		r.ring()
		if r.pause <= pause {
			t.Errorf("after a pause of %s comes one of %s", pause, r.pause)
		}
		r.disk.fill(false)
		r.ring() // a quiet moment
		r.wants(t, 3)
		put(4)
		r.wants(t, 4)
		if u := r.Unsaved(); !u.AllSaved() {
			t.Errorf("it still says %+v", u)
		}
		if n, last := len(r.heard), r.heard[len(r.heard)-1]; n < 4 || last != (session.Notice{Text: session.Unsaved{}.String()}) {
			t.Errorf("told %d, last %v", n, last)
		}
		if err := r.Flush(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnIntentThatIsRefusedLeavesNothingBehind(t *testing.T) {
	r := newRig(buffered.Options{})
	r.disk.fill(true)
	for _, e := range []session.Entry{{Type: session.IntentEntry, Data: []byte(`{}`)}, {Type: session.UndoEntry, Data: []byte(`{"state":"begun"}`)}} {
		if err := r.Append(t.Context(), "one", e); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v", e.Type, err)
		}
	}
	r.disk.fill(false)
	if err := r.Append(t.Context(), "one", said(1)); err != nil {
		t.Fatal(err)
	}
	r.wants(t, 1)
}

func TestNoMoreWaitsThanMay(t *testing.T) {
	r := newRig(buffered.Options{MaxWaiting: 500})
	r.disk.fill(true)
	kept := 0
	for n := range 20 {
		if err := r.Append(t.Context(), "one", said(n+1)); err != nil {
			break
		}
		kept++
	}
	if kept == 0 || kept > 7 {
		t.Errorf("%d wait", kept)
	}
	if err := r.Flush(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d entries", kept)) {
		t.Errorf("at the end: %v", err)
	}
	if got := r.Judge(session.Result{Cause: session.CauseDone}); got.Cause != session.CauseStore || got.Hint != "free disk space or check the folder's permissions, then run adze --continue" {
		t.Errorf("the result is %+v", got)
	}
}

// hinted is an error with a hint of its own.
type hinted struct{ error }

func (hinted) Hint() string { return "make room there" }

func TestAStoreThatIsNoDiskHasAHintOfItsOwn(t *testing.T) {
	r := newRig(buffered.Options{})
	r.disk.fill(true)
	r.disk.why = fmt.Errorf("append: %w", hinted{errors.New("it is full")})
	if err := r.Append(t.Context(), "one", said(1)); err != nil {
		t.Fatal(err)
	}
	if got := r.Judge(session.Result{Cause: session.CauseDone}); got.Hint != "make room there, then run adze --continue" {
		t.Errorf("the result is %+v", got)
	}
}

func TestAMistakeDoesNotWait(t *testing.T) {
	r := newRig(buffered.Options{})
	if err := r.Append(t.Context(), "one", session.Entry{Type: session.MessageEntry, Data: []byte("{")}); err == nil || !r.Unsaved().AllSaved() {
		t.Errorf("%v, %+v", err, r.Unsaved())
	}
}

// TestADiskThatComesAndGoes: whatever fails when, each entry is stored once and in order, of each
// session.
func TestADiskThatComesAndGoes(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		r := newRig(buffered.Options{})
		r.disk.after = func() bool { return random.IntN(2) == 0 }
		n := 0
		for range 60 {
			switch random.IntN(6) {
			case 0:
				r.disk.fill(random.IntN(2) == 0)
			case 1:
				if r.ring != nil {
					r.ring()
				}
			default:
				var batch []session.Entry
				for range 1 + random.IntN(3) {
					n++
					batch = append(batch, said(n))
				}
				if err := r.Append(t.Context(), "one", batch...); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.disk.fill(false)
		if err := r.Flush(); err != nil {
			t.Fatal(err)
		}
		r.wants(t, n)
	}
}

// TestARealStoreGoesOn: the file is taken away and put back, made read-only, removed for ever.
func TestARealStoreGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		wreck, mend func(path string) error
		anew        bool
	}{
		"moved away and back": {
			func(p string) error { return errors.Join(os.Rename(p, p+".away"), os.Rename(p+"-wal", p+".away-wal")) },
			func(p string) error { return errors.Join(os.Rename(p+".away", p), os.Rename(p+".away-wal", p+"-wal")) }, false},
		"read-only for a while": {
			func(p string) error { return os.Chmod(p, 0o400) },
			func(p string) error { return os.Chmod(p, 0o600) }, false},
		"its folder read-only for a while": {
			func(p string) error { return os.Chmod(filepath.Dir(p), 0o500) },
			func(p string) error { return os.Chmod(filepath.Dir(p), 0o700) }, false},
		"its locks removed": {
			func(p string) error { return errors.Join(os.RemoveAll(p+".locks"), os.Chmod(p, 0o400)) },
			func(p string) error { return os.Chmod(p, 0o600) }, false},
		"removed": {
			func(p string) error { return os.RemoveAll(filepath.Dir(p)) }, func(string) error { return nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state", "s.db")
			below, err := sessiondb.Open(t.Context(), path, sessiondb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := buffered.New(below, buffered.Options{After: func(time.Duration, func()) func() bool { return func() bool { return true } }})
			put := func(n int) {
				t.Helper()
				if err := s.Append(t.Context(), "one", said(n)); err != nil {
					t.Fatal(err)
				}
			}
			put(1)
			put(2)
			if err := c.wreck(path); err != nil {
				t.Fatal(err)
			}
			put(3)
			put(4)
			if n := s.Unsaved().Entries; n != 2 {
				t.Errorf("%d wait", n)
			}
			if err := c.mend(path); err != nil {
				t.Fatal(err)
			}
			put(5)
			if n := s.Unsaved().Entries; (n == 0) == c.anew {
				t.Errorf("%d wait: %s", n, s.Unsaved().Cause)
			}
			if err := s.Flush(); (err != nil) != c.anew {
				t.Errorf("at the end: %v", err)
			}
			if err := below.Close(); err != nil && !c.anew {
				t.Error(err)
			}
			after, err := sessiondb.Open(t.Context(), path, sessiondb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer after.Close()
			if n, err := after.Verify(t.Context(), "one"); n != 5 || err != nil {
				t.Errorf("%d sound entries, %v", n, err)
			}
			if err := after.Append(t.Context(), "one", said(6)); err != nil {
				t.Error(err)
			}
		})
	}
}
