package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/internal/batch"
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
	out := batch.Result{Task: r.Task, Line: r.Line, Repo: r.Source, Cause: string(r.State), Message: r.Reason, Hint: "adze runs retry " + r.ID + " does it again",
		Session: session.ID(r.Session), Cost: r.Cost, Turns: r.Turns, Base: r.Kept.Base, Began: r.Began, Ended: r.Changed}
	if n := len(r.Kept.Pushing); n > 0 {
		out.Message += "; its branch may have been pushed, at " + r.Kept.Pushing[n-1]
	}
	return out
}

// Cancel stops runs that are not over, wherever they are, and says how many. One that is worked on
// ends when its worker hears of it.
func (c Cluster) Cancel(ctx context.Context, runs []Run, by string) (n int, err error) {
	for _, r := range runs {
		if r.State.Over() {
			continue
		}
		err := change(ctx, c.Cancels, r.ID, func(s *cancel) error {
			if s.Round >= r.Round {
				return errSame
			}
			*s = cancel{r.Round, by, time.Now().UTC()}
			return nil
		})
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Retry begins another round of runs that are over, but not well, and sends the ticket of those
// that wait; it says how many. A round has a new clone and a new session.
func (c Cluster) Retry(ctx context.Context, runs []Run) (n int, err error) {
	for _, r := range runs {
		now, err := c.Run(ctx, r.ID)
		if err != nil {
			return n, err
		}
		again := now.State.Over() && (now.Result == nil || !now.Result.OK)
		if again {
			next := asked(now.ID, now)
			next.Round, next.Changed = now.Round+1, time.Now().UTC()
			err = change(ctx, c.Runs, asksBelow+r.ID, func(ask *Run) error {
				if ask.Round > now.Round { // somebody else asked for it at the same time
					return errSame
				}
				*ask = next
				return nil
			})
			if err != nil {
				return n, err
			}
			now, n = next, n+1
		}
		if now.State == Waiting {
			if err := c.send(ctx, now, again); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// Raise sets what a batch may cost.
func (c Cluster) Raise(ctx context.Context, of string, most float64) error {
	return change(ctx, c.Runs, ordersBelow+of, func(o *Order) error { o.MaxCost = most; return nil })
}
