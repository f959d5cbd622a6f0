package fleet

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/batch"
	"adze/session"
)

// usualShare is how much of a batch's money one task may take that names no limit of its own.
const usualShare = 0.1

// setAside takes from the batch's money what the task may cost, before it begins. Where too little
// is left it waits for what others give back; where they have nothing to give back, that is its
// result.
func (a *attempt) setAside(ctx context.Context, flags []string) error {
	most := a.order.MaxCost
	own := a.Cap(flags)
	if most <= 0 || a.task.Prompt == "" {
		a.cap = own
		return nil
	}
	if own <= 0 {
		own = max(most*usualShare, most/float64(max(1, a.order.Tasks)))
	}
	wait := false
	err := change(ctx, a.Runs, pursesBelow+a.run.Batch, func(p *purse) error {
		delete(p.Held, a.run.ID) // of an attempt that was lost
		rest := p.rest(most)
		if wait = rest < own && len(p.Held) > 0; wait {
			return errSame
		}
		a.cap = min(own, rest)
		if a.cap <= 0 {
			return errSame
		}
		if p.Held == nil {
			p.Held = map[string]float64{}
		}
		p.Held[a.run.ID] = a.cap
		return nil
	})
	switch {
	case err != nil:
		return err
	case wait:
		return a.answered(a.putOff(ctx, moneyWait, "it waits for money that other tasks have set aside"))
	case a.cap <= 0:
		return a.answered(a.unbegun(ctx, session.CauseBudget, batch.ErrMaxCost.Error(), "raise it: adze runs retry "+a.run.Batch+" --cause budget --max-cost USD"))
	}
	return nil
}

// settle moves what a run has cost to what is spent, once.
func (a *attempt) settle(ctx context.Context) error {
	if a.order.ID != "" && a.order.MaxCost == 0 {
		return nil
	}
	err := change(ctx, a.Runs, pursesBelow+a.run.Batch, func(p *purse) error {
		if _, held := p.Held[a.run.ID]; !held {
			return errSame
		}
		delete(p.Held, a.run.ID)
		if a.run.Cost != nil {
			p.Spent += *a.run.Cost
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrStale) {
		return fmt.Errorf("the money of %s could not be settled: %w", a.run.Batch, err)
	}
	return nil
}
