package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"adze/internal/fleet/batch"
	"adze/session"
)

// ErrMany is a word that means more than one thing.
var ErrMany = errors.New("more than one begins like that")

// Orders tells the batches.
func (c Cluster) Orders(ctx context.Context) ([]Order, error) {
	records, err := c.Runs.List(ctx, ordersBelow)
	if err != nil {
		return nil, err
	}
	var orders []Order
	for _, r := range records {
		o, err := parse[Order](r)
		if err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	return orders, nil
}

// Order is a batch.
func (c Cluster) Order(ctx context.Context, id string) (Order, error) {
	o, _, err := read[Order](ctx, c.Runs, ordersBelow+id)
	return o, err
}

// Find tells the runs that a word means: the id of a batch, BATCH.TASK, or how the part behind the
// dot begins. One that is not there is ErrNone; a beginning that several share is ErrMany.
func (c Cluster) Find(ctx context.Context, word string) ([]Run, error) {
	if of, task, dotted := strings.Cut(word, "."); dotted {
		runs, err := c.List(ctx, of)
		if err != nil {
			return nil, err
		}
		return one(runs, task, word)
	}
	if _, err := c.Order(ctx, word); err == nil {
		return c.List(ctx, word)
	} else if !errors.Is(err, ErrNone) {
		return nil, err
	}
	runs, err := c.List(ctx, "")
	if err != nil {
		return nil, err
	}
	return one(runs, word, word)
}

// one is the run whose own part of the id begins so.
func one(runs []Run, begin, word string) ([]Run, error) {
	var found []Run
	for _, r := range runs {
		if _, own, _ := strings.Cut(r.ID, "."); begin != "" && strings.HasPrefix(own, begin) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("no run or batch %q: %w", word, ErrNone)
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("%d runs begin with %q: %w", len(found), word, ErrMany)
}

// Outcome is what a run that is over came to, as a line of results; one without a result has its
// state as the cause.
func (r Run) Outcome() batch.Result {
	if r.Result != nil {
		return *r.Result
	}
	out := r.unfinished(batch.Task{Repo: r.Source})
	out.Cause, out.Message, out.Hint, out.Ended = string(r.State), r.Reason, "adze runs retry "+r.ID+" does it again", r.Changed
	if n := len(r.Kept.Pushing); n > 0 {
		out.Message += "; its branch may have been pushed, at " + r.Kept.Pushing[n-1]
	}
	return out
}

// unfinished is the result of a run that has none of its own: how far it came, with what it had
// changed when it was last saved.
func (r Run) unfinished(t batch.Task) batch.Result {
	out := batch.Result{Task: r.Task, Line: r.Line, Repo: t.Repo, Folder: t.Folder, Ref: t.Ref, Labels: t.Labels,
		Session: session.ID(r.Session), Cost: r.Cost, Turns: r.Turns, Base: r.Kept.Base, Began: r.Began}
	if r.Kept.Saved != "" {
		out.Patch, out.Changed = filepath.Join("patches", r.Task+".patch"), r.Kept.Files
	}
	return out
}

// changedTogether is how many records one command changes at the same time.
const changedTogether = 64

// wholeBatch is the key of a cancel that is of all runs of a batch.
func wholeBatch(of string) string { return of + ".all" }

// Cancel stops runs that are not over, wherever they are, and says how many. One that is worked on
// ends when its worker hears of it. A batch as a whole is stopped by one record.
func (c Cluster) Cancel(ctx context.Context, runs []Run, by string) (n int, err error) {
	for of, some := range byBatch(runs) {
		o, err := c.Order(ctx, of)
		if err != nil && !errors.Is(err, ErrNone) {
			return n, err
		}
		left := slices.DeleteFunc(slices.Clone(some), func(r Run) bool { return r.State.Over() })
		if err == nil && len(some) >= o.Tasks && len(left) > 0 {
			round := 0
			for _, r := range some {
				round = max(round, r.Round)
			}
			err = c.stop(ctx, wholeBatch(of), round, by)
		} else {
			g, beside := errgroup.WithContext(ctx)
			g.SetLimit(changedTogether)
			for _, r := range left {
				g.Go(func() error { return c.stop(beside, r.ID, r.Round, by) })
			}
			err = g.Wait()
		}
		if err != nil {
			return n, err
		}
		n += len(left)
	}
	return n, nil
}

// stop has a run, or each run of a batch, end up to a round.
func (c Cluster) stop(ctx context.Context, key string, round int, by string) error {
	return change(ctx, c.Cancels, key, func(s *cancel) error {
		if s.Round >= round {
			return errSame
		}
		*s = cancel{round, by, time.Now().UTC()}
		return nil
	})
}

func byBatch(runs []Run) map[string][]Run {
	out := map[string][]Run{}
	for _, r := range runs {
		out[r.Batch] = append(out[r.Batch], r)
	}
	return out
}

// Retry begins another round of runs that are over, but not well, and sends the tickets of those
// that wait; it says how many begin another round. A round has a new clone and a new session.
func (c Cluster) Retry(ctx context.Context, runs []Run) (n int, err error) {
	for of, some := range byBatch(runs) {
		again, err := c.retry(ctx, of, some)
		if n += again; err != nil {
			return n, err
		}
	}
	return n, nil
}

func (c Cluster) retry(ctx context.Context, of string, runs []Run) (int, error) {
	var stopped cancel
	if err := found(ctx, c.Cancels, wholeBatch(of), &stopped); err != nil {
		return 0, err
	}
	var mu sync.Mutex
	var waiting []Run
	again := map[string]bool{}
	g, beside := errgroup.WithContext(ctx)
	g.SetLimit(changedTogether)
	for _, r := range runs {
		g.Go(func() error {
			now, err := c.Run(beside, r.ID)
			if err != nil {
				return err
			}
			begins := now.State.Over() && (now.Result == nil || !now.Result.OK)
			if begins {
				next := asked(now.ID, now)
				next.Round, next.Changed = max(now.Round, stopped.Round)+1, time.Now().UTC()
				err = change(beside, c.Runs, asksBelow+r.ID, func(ask *Run) error {
					if ask.Round > now.Round { // somebody else asked for it at the same time
						return errSame
					}
					*ask = next
					return nil
				})
				now = next
			}
			if err == nil && now.State == Waiting {
				mu.Lock()
				defer mu.Unlock()
				waiting = append(waiting, now)
				if begins {
					again[now.ID] = true
				}
			}
			return err
		})
	}
	if err := g.Wait(); err != nil || len(waiting) == 0 {
		return len(again), err
	}
	all, err := c.List(ctx, of)
	if err != nil {
		return len(again), err
	}
	for _, r := range firsts(waiting, all) {
		if err := c.send(ctx, r, again[r.ID]); err != nil {
			return len(again), err
		}
	}
	return len(again), nil
}
