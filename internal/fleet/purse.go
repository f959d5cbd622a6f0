package fleet

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/fleet/batch"
	"adze/session"
)

// mayPay looks whether the batch has money left before a task begins, by the rule of package batch:
// tasks begin as long as all together have cost less than the limit, and those that run are stopped
// when it is reached.
func (a *attempt) mayPay(ctx context.Context, flags []string) error {
	a.cap = a.Cap(flags)
	most := a.order.MaxCost
	if most <= 0 {
		return nil
	}
	if a.order.Late {
		if err := a.countSpent(ctx, a.run.Batch); err != nil {
			return err
		}
	}
	left := 0.0
	err := change(ctx, a.Runs, pursesBelow+a.run.Batch, func(p *purse) error {
		so := p.move(a.run)
		if left = p.Left(most) - so; left <= 0 {
			return errSame
		}
		p.So(a.run.ID, so)
		return nil
	})
	switch {
	case err != nil:
		return err
	case left <= 0:
		return a.answered(a.stopSpending(ctx))
	}
	if a.cap <= 0 || left < a.cap {
		a.cap = left
	}
	return nil
}

// soFar returns what this round of a run has cost.
func (r Run) soFar() float64 {
	if r.Cost == nil {
		return 0
	}
	return *r.Cost
}

// stopSpending ends a run whose batch has no money left. What was done of it is told.
func (a *attempt) stopSpending(ctx context.Context) error {
	a.mu.Lock()
	run := a.run
	a.seen.onto(&run)
	a.mu.Unlock()
	r := run.unfinished(a.task)
	r.Cause, r.Message = string(session.CauseBudget), batch.ErrMaxCost.Error()
	r.Hint = "raise it: adze runs retry " + a.run.Batch + " --cause budget --max-cost USD"
	return a.finish(ctx, r, run.Kept.Saved)
}

// pay tells the batch what the task has cost until it is over, and stops it when the batch has
// nothing left. Other tasks of the batch tell as well, on whatever machine.
func (a *attempt) pay(ctx context.Context, over <-chan struct{}, stop context.CancelCauseFunc) {
	if a.order.MaxCost <= 0 {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := a.run.soFar()
	for ctx.Err() == nil {
		changes, err := a.Runs.Watch(ctx, pursesBelow)
		for err == nil {
			select {
			case <-over:
				return
			case <-a.spent:
				a.mu.Lock()
				so := a.seen.cost
				a.mu.Unlock()
				if so == nil || *so == told {
					continue
				}
				told = *so
				err = change(ctx, a.Runs, pursesBelow+a.run.Batch, func(p *purse) error { p.So(a.run.ID, told); return nil })
			case r, open := <-changes:
				if !open {
					err = errBroken
				} else if r.Key == pursesBelow+a.run.Batch {
					err = a.enough(ctx, r, stop)
				}
			}
		}
		if !a.pauseFor(over, idleMost) {
			return
		}
	}
}

// enough stops the task when the batch has nothing left by the limit as it is now.
func (a *attempt) enough(ctx context.Context, r Record, stop context.CancelCauseFunc) error {
	p, err := parse[purse](r)
	if err != nil || p.Left(a.order.MaxCost) > 0 {
		return err
	}
	o, _, err := read[Order](ctx, a.Runs, ordersBelow+a.run.Batch) // it may have been raised
	if err != nil {
		return err
	}
	if a.order = o; o.MaxCost > 0 && p.Left(o.MaxCost) <= 0 {
		stop(batch.ErrMaxCost)
	}
	return nil
}

// settle moves what a run has cost to what is spent, once.
func (a *attempt) settle(ctx context.Context) error {
	if a.order.ID != "" && a.order.MaxCost == 0 {
		return nil
	}
	err := change(ctx, a.Runs, pursesBelow+a.run.Batch, func(p *purse) error {
		if _, there := p.Now[a.run.ID]; !there {
			return errSame
		}
		p.Spent += p.move(a.run)
		return nil
	})
	if err != nil && !errors.Is(err, ErrStale) {
		return fmt.Errorf("the money of %s could not be settled: %w", a.run.Batch, err)
	}
	return nil
}

// Raise sets what a batch may cost. What its tasks have cost so far counts, also where there was no
// limit before.
func (c Cluster) Raise(ctx context.Context, of string, most float64) error {
	return change(ctx, c.Runs, ordersBelow+of, func(o *Order) error {
		o.Late = o.Late || o.MaxCost == 0
		o.MaxCost = most
		return nil
	})
}

// countSpent makes the purse of a batch whose limit came late.
func (c Cluster) countSpent(ctx context.Context, of string) error {
	if _, _, err := read[purse](ctx, c.Runs, pursesBelow+of); !errors.Is(err, ErrNone) {
		return err
	}
	runs, err := c.List(ctx, of)
	if err != nil {
		return err
	}
	var p purse
	for _, r := range runs {
		if p.Spent += r.Earlier; r.State == Running {
			p.So(r.ID, r.soFar())
		} else {
			p.Spent += r.soFar()
		}
	}
	_, err = write(ctx, c.Runs, pursesBelow+of, p, 0)
	if errors.Is(err, ErrStale) { // another worker was first
		err = nil
	}
	return err
}
