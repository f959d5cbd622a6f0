package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"adze/internal/fleet/batch"
)

// putFor is how long a change is tried on a server that does not answer.
const putFor = 30 * time.Second

// put changes the run. Only the attempt whose claim stands in the record may: ErrStale says that it
// is another one's by now.
func (a *attempt) put(ctx context.Context, how func(*Run)) error {
	a.putting.Lock()
	defer a.putting.Unlock()
	a.mu.Lock()
	next, claim := a.run, a.run.Claim
	a.seen.onto(&next)
	a.dirty = false
	a.mu.Unlock()
	how(&next)
	next.Changed = a.now().UTC()
	until := time.Now().Add(putFor)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		revision, err := write(ctx, a.Runs, runsBelow+next.ID, next, a.revision)
		if err == nil {
			a.mu.Lock()
			a.run, a.revision = next, revision
			a.mu.Unlock()
			return nil
		}
		if errors.Is(err, ErrStale) {
			if err = a.whose(ctx, claim, next.Claim); err == nil {
				err = errOwn
			}
		}
		if errors.Is(err, ErrStale) || errors.Is(err, ErrFull) || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-a.lost():
			return fmt.Errorf("%w: %w", batch.ErrLost, err)
		case <-time.After(wait):
		}
	}
}

// lost is closed when the lease is lost; without one it never is.
func (a *attempt) lost() <-chan struct{} {
	if a.lease == nil {
		return nil
	}
	return a.lease.Lost()
}

// errOwn is a change that was refused because one of the same attempt had been made.
var errOwn = errors.New("it was changed by this attempt itself")

// whose finds out whether a change that came too late was behind one of this attempt's own, whose
// answer was lost.
func (a *attempt) whose(ctx context.Context, claims ...string) error {
	there, revision, err := read[Run](ctx, a.Runs, runsBelow+a.run.ID)
	if err != nil {
		return err
	}
	for _, c := range claims {
		if c != "" && there.Claim == c {
			a.revision = revision
			return nil
		}
	}
	return fmt.Errorf("%s: %w", a.run.ID, ErrStale)
}

// seen is how far a task is by what its worker saw last.
type seen struct {
	stage        batch.Stage
	doing        string
	turns, calls int
	cost         *float64
}

func (s seen) onto(r *Run) {
	r.Stage, r.Doing, r.Turns, r.Calls = s.stage, s.doing, s.turns, s.calls
	if s.cost != nil {
		r.Cost = s.cost
	}
}

// cost notes what the task has cost so far.
func (a *attempt) cost(so *float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if so != nil {
		a.seen.cost = so
	}
}

// saw notes how far the task is; flush tells it.
func (a *attempt) saw(s batch.State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	cost := a.seen.cost
	if s.Cost != nil {
		c := *s.Cost
		cost = &c
	}
	a.seen, a.dirty = seen{s.Stage, a.Redact(s.Doing), s.Turns, s.Calls, cost}, true
	select {
	case a.spent <- struct{}{}:
	default: // it is to be told already
	}
}

// flush puts how far the task is, now and then, and stops the work when the run is another one's.
func (a *attempt) flush(ctx context.Context, over <-chan struct{}, stop context.CancelCauseFunc) {
	each := time.NewTicker(tellEvery)
	defer each.Stop()
	for {
		select {
		case <-over:
			return
		case <-each.C:
		}
		a.mu.Lock()
		dirty := a.dirty
		a.mu.Unlock()
		if dirty {
			if err := a.put(ctx, func(*Run) {}); errors.Is(err, ErrStale) {
				stop(fmt.Errorf("%w: %w", batch.ErrLost, err))
				return
			}
		}
	}
}

// prove renews the lease now. A server that does not answer is asked again until the lease is lost
// by that: no answer is no loss yet.
func (a *attempt) prove(ctx context.Context) error {
	for {
		err := a.lease.Prove(ctx)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, ErrAway):
			return fmt.Errorf("%w: %w", batch.ErrLost, err)
		}
		select {
		case <-a.lease.Lost():
			return fmt.Errorf("%w: %w", batch.ErrLost, err)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(askAgain):
		}
	}
}

// away keeps the progress of the task in its run and patches among the blobs.
type away struct{ a *attempt }

func (h away) Progress() batch.Progress {
	h.a.mu.Lock()
	defer h.a.mu.Unlock()
	return h.a.run.Kept
}

func (h away) Keep(ctx context.Context, p batch.Progress) error {
	if err := h.a.prove(ctx); err != nil {
		return err
	}
	return h.a.put(ctx, func(r *Run) { r.Kept = p })
}

func (h away) Save(ctx context.Context, patch string) (string, error) {
	f, err := os.Open(patch)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return h.a.Blobs.Keep(ctx, f)
}

func (h away) Fetch(ctx context.Context, name, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(h.a.Blobs.Fetch(ctx, name, f), f.Close())
}
