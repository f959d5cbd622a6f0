package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"adze/internal/fleet/batch"
	"adze/session"
)

// Delays before a ticket is taken again.
const (
	heldWait  = 5 * time.Second // another worker's lease is still there
	failWait  = 5 * time.Second // after the first failure; then twice as long each time
	limitWait = time.Minute     // after a provider asked for a pause and named no time; then twice as long each time
	// What a provider may ask for. A limit of a day is asked about again each quarter of an hour,
	// for it may be raised.
	limitLeast = time.Second
	limitMost  = 15 * time.Minute
)

// awayTries is how often an attempt that ended because no server answered is none: with the waits
// between them this is an hour and a half. A task that always loses its servers is at fault itself.
const awayTries = 20

// lostTries is how often an attempt whose worker was lost is none: a worker that is killed, or a
// machine that is taken away, is not the fault of a task. A task that brings each worker down is at
// fault itself.
const lostTries = 10

// tooOften is how often a ticket may be taken without an attempt or a wait that was written down:
// the end of a ticket that brings each worker down before it can say so.
const tooOften = 50

// attempt is a ticket in the hands of this worker, and its run.
type attempt struct {
	*Worker
	taken Taken
	lease Lease
	freed sync.Once
	order Order
	task  batch.Task
	cap   float64 // what it may cost; if 0, any

	moving   sync.Mutex
	moved    bool // the next ticket of the batch was sent
	putting  sync.Mutex
	mu       sync.Mutex // of run, seen and dirty
	run      Run
	revision uint64
	seen     seen
	dirty    bool          // seen has changed since it was put
	spent    chan struct{} // seen was changed
}

// errAnswered says that nothing is to be done with a ticket any more.
var errAnswered = errors.New("the ticket is answered")

// attempt does what is to be done with a ticket.
func (w *Worker) attempt(ctx context.Context, t Taken) {
	a := &attempt{Worker: w, taken: t, spent: make(chan struct{}, 1)}
	begun, cancel := context.WithTimeout(ctx, 2*time.Minute)
	err := a.begin(begun)
	cancel()
	defer a.release()
	switch {
	case errors.Is(err, errAnswered):
		return
	case err != nil: // of the server: the ticket comes again
		a.run.ID = cmp.Or(a.run.ID, t.Ticket().Run)
		w.tell(Event{Kind: PutOff, Run: a.run, Why: err.Error()})
		_ = t.Retry(ctx, failWait)
		return
	}
	w.tell(Event{Kind: Took, Run: a.run})
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { _ = a.moveOn(ctx) }) // otherwise it is done before the ticket is answered
	r, patch, cause, err := a.work(ctx)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	a.end(late, r, patch, cause, err)
}

// release gives the lease back, before the ticket is: who takes it next is not to find it held.
func (a *attempt) release() {
	if a.lease == nil {
		return
	}
	a.freed.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = a.lease.Release(ctx) // it ends by itself
	})
}

func (a *attempt) answered(err error) error {
	if err != nil {
		return err
	}
	return errAnswered
}

// mayBegin looks for what stands against an attempt.
func (a *attempt) mayBegin(ctx context.Context) error {
	if stopped, err := a.isCancelled(ctx, a.run); err != nil {
		return err
	} else if stopped {
		return a.answered(a.over(ctx, Cancelled, ErrCancelled.Error()))
	}
	if a.run.Attempts-a.run.lostNow() >= a.order.Attempts {
		return a.answered(a.over(ctx, Dead, fmt.Sprintf("it was tried %d times; the last time: %s", a.run.Attempts, orLost(a.run))))
	}
	if often := a.taken.Deliveries() - a.run.Attempts - a.run.Waits; often > tooOften && often > tooOften+a.refusedBefore(ctx) {
		return a.answered(a.over(ctx, Dead, fmt.Sprintf("it was taken %d times and never got anywhere", a.taken.Deliveries())))
	}
	flags := append(a.order.Flags[:len(a.order.Flags):len(a.order.Flags)], a.task.Flags...)
	if err := a.Refuses(a.task, flags); errors.Is(err, ErrUnknown) {
		return a.refuse(ctx, err, true)
	} else if err != nil {
		return a.answered(a.unbegun(ctx, session.CauseDenied, err.Error(), "the owner of "+a.Name+" can admit it; the flags of adze worker --help say how"))
	}
	if key := a.Key(flags); key != "" && a.task.Prompt != "" {
		p, _, err := read[pause](ctx, a.Pauses, key)
		if err != nil && !errors.Is(err, ErrNone) {
			return err
		}
		if left := min(p.Until.Sub(a.now()), limitMost+limitWait); left > 0 { // a clock that is wrong holds up nobody for long
			return a.answered(a.putOff(ctx, left, p.Why))
		}
	}
	return a.mayPay(ctx, flags)
}

// lostNow returns 1 for a run whose worker was lost in the middle of an attempt that does not
// count, else 0.
func (r Run) lostNow() int {
	if r.State == Running && r.Lost < lostTries {
		return 1
	}
	return 0
}

func orLost(r Run) string {
	if r.State == Running {
		return fmt.Sprintf("its worker %s was lost", r.Worker)
	}
	return r.Reason
}

// putOff has the ticket come again, without an attempt.
func (a *attempt) putOff(ctx context.Context, wait time.Duration, why string) error {
	if err := a.put(ctx, func(r *Run) { r.State, r.Reason = Waiting, why; r.Waits++ }); err != nil {
		return err
	}
	if err := a.moveOn(ctx); err != nil { // what waits behind it may go on
		return err
	}
	a.tell(Event{Kind: PutOff, Run: a.run, Why: why})
	a.release()
	return a.taken.Retry(ctx, wait)
}

// work has the task done. Cause is why it was stopped, where it was.
func (a *attempt) work(ctx context.Context) (r batch.Result, patch string, cause, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	a.enter(a.run, stop)
	defer a.leave(a.run)
	var beside sync.WaitGroup
	defer beside.Wait()
	over := make(chan struct{})
	defer close(over)
	beside.Go(func() { a.watch(over, stop) })
	beside.Go(func() { a.beat(ctx, over) })
	beside.Go(func() { a.flush(ctx, over, stop) })
	beside.Go(func() { a.pay(ctx, over, stop) })
	// A cancel that came between the look at it and enter is seen here.
	if stopped, err := a.isCancelled(ctx, a.run); err == nil && stopped {
		stop(ErrCancelled)
	}
	select {
	case <-a.lease.Lost():
		stop(batch.ErrLost)
	default: // it was taken, and the run was changed under it, a moment ago; each step proves it again
	}
	if ctx.Err() != nil {
		return r, "", context.Cause(ctx), context.Cause(ctx)
	}
	r, patch, err = a.Doer.Do(ctx, Job{Run: a.run, Task: a.task, Order: a.order, MaxCost: a.cap, Away: away{a}, Watch: a.saw})
	return r, patch, context.Cause(ctx), err
}

// watch stops the work when the lease is lost or the worker is to stop.
func (a *attempt) watch(over <-chan struct{}, stop context.CancelCauseFunc) {
	select {
	case <-a.lease.Lost():
		stop(batch.ErrLost)
	case <-a.drain:
		stop(ErrDrained)
		select { // it may take a while to stop, and be lost meanwhile
		case <-a.lease.Lost():
		case <-over:
		}
	case <-over:
	}
}

// beat tells the queue that the ticket is worked on.
func (a *attempt) beat(ctx context.Context, over <-chan struct{}) {
	each := time.NewTicker(cmp.Or(a.Beat, beatEvery))
	defer each.Stop()
	for {
		select {
		case <-over:
			return
		case <-each.C:
			_ = a.taken.Beat(ctx) // the lease decides who may go on
		}
	}
}
