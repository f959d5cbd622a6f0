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

// List tells the runs of a batch in the order of its lines; of an empty one: all.
func (c Cluster) List(ctx context.Context, of string) ([]Run, error) {
	below := runsBelow
	if of != "" {
		below += of + "."
	}
	records, err := c.Runs.List(ctx, below)
	if err != nil {
		return nil, err
	}
	var runs []Run
	for _, r := range records {
		run, err := parse[Run](r)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return sorted(runs), nil
}

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
		err = change(ctx, c.Runs, runsBelow+r.ID, func(now *Run) error {
			if now.State != Waiting || now.Round != r.Round {
				return errSame // its worker writes that down
			}
			now.State, now.Reason, now.Changed = Cancelled, ErrCancelled.Error(), time.Now().UTC()
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
		again := false
		err := change(ctx, c.Runs, runsBelow+r.ID, func(now *Run) error {
			again = now.State.Over() && (now.Result == nil || !now.Result.OK)
			if !again {
				r = *now
				return errSame
			}
			*now = Run{ID: now.ID, Batch: now.Batch, Label: now.Label, Priority: now.Priority, Line: now.Line, Task: now.Task, Source: now.Source, Work: now.Work,
				State: Waiting, Round: now.Round + 1, Kept: batch.Progress{Pushing: now.Kept.Pushing}, Created: now.Created, Changed: time.Now().UTC()}
			r = *now
			return nil
		})
		if err != nil {
			return n, err
		}
		if again || r.State == Waiting {
			if err := c.send(ctx, r, 0, again); err != nil {
				return n, err
			}
		}
		if again {
			n++
		}
	}
	return n, nil
}

// Raise sets what a batch may cost.
func (c Cluster) Raise(ctx context.Context, of string, most float64) error {
	return change(ctx, c.Runs, ordersBelow+of, func(o *Order) error { o.MaxCost = most; return nil })
}

// Follow tells the runs of a batch as they are and then each change, until ctx ends or all are
// over. A watch that breaks is begun again.
func (c Cluster) Follow(ctx context.Context, of string, tasks int, saw func(Run) error) error {
	f := following{seen: map[string]uint64{}, over: map[string]bool{}, tasks: tasks, saw: saw}
	for {
		err := c.follow(ctx, of, &f)
		if !errors.Is(err, errBroken) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(idleMost):
		}
	}
}

// following is what was told of a batch.
type following struct {
	seen  map[string]uint64 // the revision, by run
	over  map[string]bool
	tasks int
	saw   func(Run) error
}

func (f *following) take(r Record) error {
	if r.Caught || r.Revision <= f.seen[r.Key] {
		return nil
	}
	run, err := parse[Run](r)
	if err != nil {
		return err
	}
	if f.seen[r.Key] = r.Revision; run.State.Over() {
		f.over[r.Key] = true
	} else {
		delete(f.over, r.Key)
	}
	return f.saw(run)
}

// errBroken is a watch that ended before its time.
var errBroken = errors.New("the connection to the server broke")

func (c Cluster) follow(ctx context.Context, of string, f *following) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var changes <-chan Record
	err := patiently(ctx, func() (err error) {
		changes, err = c.Runs.Watch(ctx, runsBelow+of+".")
		return err
	})
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r, open := <-changes:
			switch {
			case !open && ctx.Err() == nil:
				return errBroken
			case !open:
				return context.Cause(ctx)
			}
			if err := f.take(r); err != nil || len(f.over) >= f.tasks {
				return err
			}
		}
	}
}
