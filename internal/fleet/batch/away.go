package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"adze/session"
)

// ErrLost is the cause that ends a task at once, with all that it started: somebody else may have
// it from now on.
var ErrLost = errors.New("the task is not held any more")

// bring makes the clone of a task, as it was when it was last saved.
func (b *Batch) bring(ctx context.Context, t Task, p *Progress) (err error) {
	at := p.Base
	if at == "" {
		p.Began = b.now().UTC().Truncate(time.Second)
	}
	if t.Repo == "" {
		at = "" // a folder becomes another commit each time that it is taken over
	}
	if p.Base, err = b.checkout(ctx, t, at); err != nil {
		return err
	}
	if err := copyIndex(filepath.Join(b.clone(t), ".git", "index"), b.pristine(t)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if p.Saved == "" {
		return nil
	}
	path := filepath.Join(b.dir(t), "saved.patch")
	if err := b.Away.Fetch(ctx, p.Saved, path); err != nil {
		return fmt.Errorf("%w: what had changed could not be had back: %w", ErrKept, err)
	}
	if _, err := b.git(ctx, b.clone(t), nil, "apply", "--binary", "--whitespace=nowarn", path); err != nil {
		return fmt.Errorf("what had changed does not apply: %w", err)
	}
	return nil
}

// saver saves a clone after a message of the model when calls came since the last time, and at most
// a twentieth of the time long.
func (b *Batch) saver(ctx context.Context, t Task, p *Progress, s *State) func() {
	if b.Away == nil {
		return func() {}
	}
	next, saved := time.Now().Add(b.SaveAfter), 0
	return func() {
		began := time.Now()
		if s.Calls == saved || began.Before(next) {
			return
		}
		saved = s.Calls
		if b.save(ctx, t, p, s.Calls) {
			_ = b.remember(ctx, t, *p) // who cannot keep it finds that out at the next step
		}
		b.touch() // the work goes on
		next = time.Now().Add(20 * time.Since(began))
	}
}

// save puts what has changed in the clone away, and says whether it could. What works there may be
// in the middle of something: then it is what was to be seen. What cannot be saved is not: the work
// goes on.
func (b *Batch) save(ctx context.Context, t Task, p *Progress, calls int) bool {
	if b.Away == nil {
		return false
	}
	c, err := b.changed(ctx, t, p.Base)
	if err != nil {
		return false
	}
	name := ""
	if c.patch != "" {
		if name, err = b.Away.Save(ctx, filepath.Join(b.Out, c.patch)); err != nil {
			return false
		}
	}
	p.Saved, p.Calls, p.Files = name, calls, c.files
	b.latest = &c
	return true
}

// saveLast saves a clone whose task is given back.
func (b *Batch) saveLast(ctx context.Context, t Task, s *State, err error) {
	if b.Away == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrKept) || !isThere(b.clone(t)) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if p, err := b.remembered(t); err == nil && p.Ran == nil && b.save(ctx, t, &p, s.Calls) {
		_ = b.remember(ctx, t, p) // what was saved before that counts
	}
}

// full says whether a disk has no room left; git only tells.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "No space left on device")
}

// Full says whether an error of Do is about room on this machine's disk.
func Full(err error) bool { return err != nil && full(err) }

// Away says whether the servers that keep the session did not answer, or know of another writer
// yet: the lease of one that is lost ends by itself. What is told is all that there is of it.
func (r Result) Away() bool {
	return r.Cause == string(session.CauseStore) && slices.ContainsFunc(awayWords, func(w string) bool { return strings.Contains(r.Message, w) })
}

// awayWords are of jet.ErrUnreachable, jet.ErrLost, session.ErrLocked and store.ErrNotSaved.
var awayWords = []string{"no NATS server answers", "the lease was lost", "the session is open in another process", "the session is no longer saved"}

// passing says that it is no end of the task: the same may go well later, when it is tried again.
// It is never kept as what came of it.
func (r Result) passing() bool {
	return r.RetryAfter != nil || r.Crashed || r.Cause == string(session.CauseStore)
}

// Limited says whether the provider of the model has asked for a pause, and for how long; if 0, it
// named no time.
func (r Result) Limited() (time.Duration, bool) {
	if r.RetryAfter == nil {
		return 0, false
	}
	return time.Duration(min(*r.RetryAfter, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond, true
}
