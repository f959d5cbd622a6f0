package fleet

import (
	"context"
	"errors"
	"slices"
)

// ahead is how many tickets of a batch wait in the queue at a time, by label and priority. The next
// one is sent when one is taken, behind those that wait, so that batches of one priority take
// turns.
const ahead = 8

// A chain is the tasks of a batch that have the same label and priority. Each run names the one
// whose ticket is sent when its own is taken, ahead places behind it.
type chain struct {
	next, before map[string]string // by id of a run
}

// chains returns those of a batch.
func (s *Submission) chains() (c chain, err error) {
	c = chain{map[string]string{}, map[string]string{}}
	type place struct {
		label    string
		priority int
	}
	of := map[place][]string{}
	for _, t := range s.Tasks {
		r, err := s.run(t)
		if err != nil {
			return c, &Mistake{t.Line, err.Error()}
		}
		at := place{r.Label, r.Priority}
		of[at] = append(of[at], r.ID)
		if n := len(of[at]) - 1 - ahead; n >= 0 {
			c.next[of[at][n]], c.before[r.ID] = r.ID, of[at][n]
		}
	}
	return c, nil
}

// sendFirst sends the ticket of a run whose ask was just written, unless the ticket of the run
// before it in its chain does so when it is taken. Whoever takes that one writes its record before
// looking for this one, so that one of both sees the other.
func (c Cluster) sendFirst(ctx context.Context, r Run, before string) error {
	if before != "" {
		_, _, err := read[Run](ctx, c.Runs, runsBelow+before)
		if errors.Is(err, ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return c.send(ctx, r, false)
}

// sendNext sends the ticket of the first run of a chain, from this one on, that waits. What is
// cancelled is left out.
func (a *attempt) sendNext(ctx context.Context, id string) error {
	for id != "" {
		ask, _, err := read[Run](ctx, a.Runs, asksBelow+id)
		switch {
		case errors.Is(err, ErrNone): // it is not submitted yet
			return nil
		case err != nil:
			return err
		}
		var run Run
		if err := found(ctx, a.Runs, runsBelow+id, &run); err != nil {
			return err
		}
		now := combined(ask, run, cancel{})
		stopped, err := a.isCancelled(ctx, now)
		if err != nil {
			return err
		}
		if now.State == Waiting && !stopped {
			t := ticketOf(now)
			t.Chained = true
			return a.queue(ctx, t, false)
		}
		id = nextOf(now.Batch, ask.Next)
	}
	return nil
}

// moveOn sends the next ticket of the batch, once in an attempt. It comes after the first change of
// the run, and before the ticket is answered.
func (a *attempt) moveOn(ctx context.Context) error {
	a.moving.Lock()
	defer a.moving.Unlock()
	if a.moved {
		return nil
	}
	err := patiently(ctx, func() error { return a.sendNext(ctx, a.taken.Ticket().Next) })
	a.moved = err == nil
	return err
}

// firsts returns those of the runs that wait, in the order of their lines, which no other one of
// them is before in its chain.
func firsts(waiting, all []Run) []Run {
	before := map[string]string{}
	for _, r := range all {
		if r.Next != "" {
			before[r.Next] = r.ID
		}
	}
	among := map[string]bool{}
	for _, r := range waiting {
		among[r.ID] = true
	}
	covered := map[string]bool{} // a run before it is among them
	for _, r := range sorted(slices.Clone(all)) {
		b := before[r.ID]
		covered[r.ID] = b != "" && (among[b] || covered[b])
	}
	return slices.DeleteFunc(slices.Clone(waiting), func(r Run) bool { return covered[r.ID] })
}
