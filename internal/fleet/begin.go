package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
)

// begin looks whether the task is to be done, and may be done now. With its last step, nobody who
// had the task before can change its run any more.
func (a *attempt) begin(ctx context.Context) (err error) {
	ticket := a.taken.Ticket()
	if ticket.Unknown != nil {
		return a.refuse(ctx, ticket.Unknown, false)
	}
	if ticket.Chained && a.taken.Deliveries() == 1 && ticket.Round == 1 {
		if ask, _, err := readKnown[Run](ctx, a.Runs, asksBelow+ticket.Run); err == nil {
			ticket.Copy = &Copy{ask}
		}
	}
	if c := ticket.Copy; c != nil && a.taken.Deliveries() == 1 && ticket.Round == 1 && c.Run.Round == 1 {
		if err := a.beginFirst(ctx, *c); !errors.Is(err, ErrStale) {
			return err
		}
	}
	if a.lease == nil {
		if a.lease, err = a.Leases.Hold(ctx, ticket.Run); errors.Is(err, ErrHeld) {
			return a.answered(a.taken.Retry(ctx, heldWait))
		} else if err != nil {
			return err
		}
	}
	a.run, a.revision, err = readKnown[Run](ctx, a.Runs, runsBelow+ticket.Run)
	if errors.Is(err, ErrNone) || err == nil && a.run.Round < ticket.Round {
		err = a.readAsk(ctx, ticket)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		of, _, _ := strings.Cut(ticket.Run, ".")
		if o, _, err := read[Order](ctx, a.Runs, ordersBelow+of); err == nil {
			a.order = o
		}
		return a.refuse(ctx, err, false)
	case errors.Is(err, ErrNone): // its batch was deleted
		if err := a.moveOn(ctx); err != nil {
			return err
		}
		return a.answered(a.taken.Done(ctx))
	case err != nil:
		return err
	case a.run.State.Over(): // a ticket of an earlier round counts for the one that waits now
		if err := errors.Join(a.settle(ctx), a.moveOn(ctx)); err != nil {
			return err
		}
		return a.answered(a.taken.Done(ctx))
	}
	if err := a.look(ctx); err != nil {
		return err
	}
	return a.claim(ctx)
}

// readAsk makes what is asked for the run, behind the revision of the run's record: an earlier
// round, or none.
func (a *attempt) readAsk(ctx context.Context, ticket Ticket) error {
	ask, _, err := readKnown[Run](ctx, a.Runs, asksBelow+ticket.Run)
	if err != nil {
		return err
	}
	earlier := a.run.Earlier + a.run.soFar()
	a.run = asked(ticket.Run, ask)
	a.run.Earlier = earlier
	return nil
}

// beginFirst begins a run that nobody had in hands before, by the copy of its record that the
// ticket has: nothing is read, and the lease, which nobody else wants, is taken beside. A record
// that has changed since refuses the claim, which is ErrStale; then nothing was done. The money of
// a batch is shared by all its tasks, so that what is set aside of it is always by the record as it
// is now.
func (a *attempt) beginFirst(ctx context.Context, c Copy) error {
	var err error
	of, _, _ := strings.Cut(a.taken.Ticket().Run, ".")
	if a.order, err = a.orderOf(ctx, of, c.Run.Round); errors.Is(err, ErrUnknown) {
		return ErrStale // the lease comes first
	} else if err != nil {
		return err
	}
	if a.order.MaxCost > 0 {
		return ErrStale
	}
	a.run, a.revision = asked(a.taken.Ticket().Run, c.Run), 0
	if err := a.look(ctx); err != nil {
		return err
	}
	var lease Lease
	var held error
	var beside sync.WaitGroup
	id := a.run.ID // claim replaces the run
	beside.Go(func() { lease, held = a.Leases.Hold(ctx, id) })
	err = a.claim(ctx)
	beside.Wait()
	if held == nil {
		a.lease = lease
		return err
	}
	if err != nil {
		return err
	}
	// Without a lease there is no attempt.
	err = a.put(ctx, func(r *Run) { r.State, r.Reason = Waiting, held.Error(); r.Attempts--; r.Waits++ })
	if errors.Is(held, ErrHeld) && err == nil {
		return a.answered(a.taken.Retry(ctx, heldWait))
	}
	return errors.Join(held, err)
}

// look reads what the run is about and whether anything stands against an attempt.
func (a *attempt) look(ctx context.Context) (err error) {
	if a.order, err = a.orderOf(ctx, a.run.Batch, a.run.Round); err == nil {
		a.task, err = a.Task(ctx, a.run)
	}
	if errors.Is(err, errBody) {
		return a.answered(a.over(ctx, Dead, err.Error()))
	}
	if errors.Is(err, ErrUnknown) {
		return a.refuse(ctx, err, true)
	} else if err != nil {
		return err
	}
	return a.mayBegin(ctx)
}

// claim makes the run this attempt's.
func (a *attempt) claim(ctx context.Context) error {
	return a.put(ctx, func(r *Run) {
		lost := r.lostNow()
		r.Lost += lost
		r.Attempts -= lost
		r.State, r.Worker, r.Claim, r.Reason = Running, a.Name, rand.Text(), ""
		r.Attempts++
		if r.Began.IsZero() {
			r.Began = a.now().UTC()
		}
		r.Session = string(r.sessionID())
	})
}
