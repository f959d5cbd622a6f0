package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

	"adze/internal/fleet/batch"
	"adze/internal/text/jsontext"
	"adze/session"
)

// end writes down what came of an attempt, and only then answers the ticket.
func (a *attempt) end(ctx context.Context, r batch.Result, patch string, cause, err error) {
	asked, limited := r.Limited()
	switch {
	case err == nil && limited:
		err = a.limited(ctx, r, asked)
	case err == nil && r.Away() && a.run.Away < awayTries:
		err = a.away(ctx, r.Cost, r.Message)
	case err == nil && (r.Crashed || r.Cause == string(session.CauseStore)):
		err = a.again(ctx, r.Cost, r.Message)
	case err == nil:
		err = a.finish(ctx, r, patch)
	case errors.Is(err, ErrStale), errors.Is(cause, ErrStale):
	case errors.Is(err, batch.ErrLost), errors.Is(cause, batch.ErrLost):
		if a.blameless(ctx, r.Cost) {
			err = nil
		}
	case errors.Is(cause, ErrCancelled):
		a.cost(r.Cost)
		err = a.over(ctx, Cancelled, ErrCancelled.Error())
	case errors.Is(cause, batch.ErrMaxCost):
		a.cost(r.Cost)
		err = a.stopSpending(ctx)
	case errors.Is(cause, ErrDrained):
		err = a.giveBack(ctx, r.Cost)
	case batch.Full(err):
		err = a.again(ctx, r.Cost, "there is no room left on the disk of "+a.Name)
	default:
		err = a.again(ctx, r.Cost, err.Error())
	}
	if err != nil {
		a.tell(Event{Kind: LostIt, Run: a.run, Why: err.Error()})
	}
}

// finish publishes the result.
func (a *attempt) finish(ctx context.Context, r batch.Result, patch string) error {
	raw, err := jsontext.Marshal(r)
	if err != nil {
		return err
	}
	if r, err = parse[batch.Result](Record{Key: a.run.ID, Value: a.RedactJSON(raw)}); err != nil {
		return err
	}
	if r.Ended.IsZero() {
		r.Ended = a.now().UTC()
	}
	a.cost(r.Cost)
	return a.close(ctx, Finished, func(run *Run) { run.Result, run.Patch, run.Reason = &r, patch, "" }, Ended, func() error {
		if r.OK && a.run.Work.Apart { // it cannot run again; what fails here goes with the batch
			_ = a.Bodies.Delete(ctx, a.run.ID)
		}
		return a.taken.Done(ctx)
	})
}

// unbegun ends a run with a result although nothing of it was done.
func (a *attempt) unbegun(ctx context.Context, cause session.Cause, message, hint string) error {
	r := a.run.unfinished(a.task)
	r.Cause, r.Message, r.Hint = string(cause), message, hint
	return a.finish(ctx, r, a.run.Kept.Saved)
}

// over ends a run without a result.
func (a *attempt) over(ctx context.Context, s State, why string) error {
	kind, answer := Stopped, func() error { return a.taken.Done(ctx) }
	if s == Dead {
		kind, answer = Died, func() error { return a.taken.Dead(ctx, why) }
	}
	return a.close(ctx, s, func(run *Run) { run.Reason, run.Patch = why, run.Kept.Saved }, kind, answer)
}

// close ends a run: first the record, which nobody else can have changed, then the money and the
// ticket.
func (a *attempt) close(ctx context.Context, s State, how func(*Run), kind EventKind, answer func() error) error {
	err := a.put(ctx, func(r *Run) { r.State, r.Stage, r.Doing = s, "", ""; how(r) })
	if err != nil {
		return err
	}
	a.tell(Event{Kind: kind, Run: a.run, Why: a.run.Reason})
	if err := errors.Join(a.settle(ctx), a.moveOn(ctx)); err != nil {
		return err
	}
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(a.release) // the run is over and settled: who takes its ticket now only answers it
	return answer()
}

// again has a task that failed tried again, or ends it.
func (a *attempt) again(ctx context.Context, cost *float64, why string) error {
	why = a.Redact(why)
	a.cost(cost)
	if a.run.Attempts >= a.order.Attempts {
		return a.over(ctx, Dead, why)
	}
	if err := a.put(ctx, func(r *Run) { r.State, r.Reason = Waiting, why }); err != nil {
		return err
	}
	a.tell(Event{Kind: Retried, Run: a.run, Why: why})
	a.release()
	return a.taken.Retry(ctx, failWait<<min(a.run.Attempts-1, 6))
}

// away has a task whose servers did not answer tried again; it is no attempt.
func (a *attempt) away(ctx context.Context, cost *float64, why string) error {
	a.cost(cost)
	wait := failWait << min(a.run.Away, 6)
	if err := a.put(ctx, func(r *Run) { r.Attempts--; r.Away++ }); err != nil {
		return err
	}
	return a.putOff(ctx, wait, a.Redact(why))
}

// blameless has an attempt not count whose lease was lost because no server answers, which is
// neither the task's fault nor the worker's, and says whether it could. The work has ended by now,
// and the ticket comes again by itself. When servers answer again, another worker may have begun:
// the change is only taken while this attempt's own claim stands, so that it never changes what is
// another one's. Where a server answers at once, the loss had another reason, and counts.
func (a *attempt) blameless(ctx context.Context, cost *float64) bool {
	if _, _, err := read[Run](ctx, a.Runs, runsBelow+a.run.ID); !errors.Is(err, ErrAway) || a.run.Away >= awayTries {
		return false
	}
	a.release()
	a.lease = nil // it was lost, which stops no change any more
	a.cost(cost)
	const why = "no server answered until its lease was lost"
	if a.put(ctx, func(r *Run) { r.State, r.Reason = Waiting, why; r.Attempts--; r.Away++ }) != nil {
		return false
	}
	a.tell(Event{Kind: PutOff, Run: a.run, Why: why})
	return true
}

// giveBack lets another worker go on; it is no attempt.
func (a *attempt) giveBack(ctx context.Context, cost *float64) error {
	a.cost(cost)
	if err := a.put(ctx, func(r *Run) { r.State, r.Reason = Waiting, ErrDrained.Error(); r.Attempts--; r.Waits++ }); err != nil {
		return err
	}
	a.release()
	a.tell(Event{Kind: GaveBack, Run: a.run})
	return a.taken.Retry(ctx, 0)
}

// limitFor is how long to wait for a provider that asked for a while, or for none: then it is twice
// as long each time.
func limitFor(asked time.Duration, waits int) time.Duration {
	if asked <= 0 {
		return limitWait << min(waits, 4)
	}
	return min(max(asked, limitLeast), limitMost)
}

// limited has all that use the same key wait; it is no attempt. The pause stands before the ticket
// is given back, so that no other worker runs into the same limit.
func (a *attempt) limited(ctx context.Context, r batch.Result, asked time.Duration) error {
	a.cost(r.Cost)
	wait := limitFor(asked, a.run.Waits)
	flags := append(a.order.Flags[:len(a.order.Flags):len(a.order.Flags)], a.task.Flags...)
	if key := a.Key(flags); key != "" {
		until := a.now().Add(wait)
		err := change(ctx, a.Pauses, key, func(p *pause) error {
			if !p.Until.Before(until) {
				return errSame
			}
			p.Until, p.Why = until, r.Message
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := a.put(ctx, func(r *Run) { r.Attempts-- }); err != nil {
		return err
	}
	return a.putOff(ctx, wait, r.Message)
}
