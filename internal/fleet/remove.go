package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adze/session"
)

// ErrRuns says that a batch is not over.
var ErrRuns = errors.New("not all of its runs are over")

// Over returns the runs of a batch that is over. One that is not is ErrRuns, one that is not there
// ErrNone.
func (c Cluster) Over(ctx context.Context, of string) ([]Run, error) {
	if _, err := c.Order(ctx, of); err != nil {
		return nil, fmt.Errorf("batch %q: %w", of, err)
	}
	runs, err := c.List(ctx, of)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, r := range runs {
		if !r.State.Over() {
			n++
		}
	}
	if n > 0 {
		return nil, fmt.Errorf("batch %s: %w: %d of %d wait or run", of, ErrRuns, n, len(runs))
	}
	return runs, nil
}

// Delete removes the records of a batch that is over, and the tickets of runs that were cancelled
// before they were taken. The order goes last, so that a removal that was cut off can be done
// again.
func (c Cluster) Delete(ctx context.Context, of string, runs []Run) error {
	for _, r := range runs {
		if err := c.Queue.Remove(ctx, Ticket{Run: r.ID, Label: r.Label, Priority: r.Priority}); err != nil {
			return err
		}
		for _, key := range []string{asksBelow, runsBelow} {
			if err := c.Runs.Delete(ctx, key+r.ID); err != nil {
				return err
			}
		}
		if err := c.Pauses.Delete(ctx, refusedBelow+r.ID); err != nil {
			return err
		}
		for _, book := range []Book{c.Bodies, c.Cancels} {
			if err := book.Delete(ctx, r.ID); err != nil {
				return err
			}
		}
	}
	if err := c.Cancels.Delete(ctx, wholeBatch(of)); err != nil {
		return err
	}
	if err := c.Runs.Delete(ctx, pursesBelow+of); err != nil {
		return err
	}
	return c.Runs.Delete(ctx, ordersBelow+of)
}

// Expired lists batches that are over and in which nothing has happened for so long that they are
// old. A batch whose submission was cut off counts by when that was.
func (c Cluster) Expired(ctx context.Context, old func(time.Time) bool) (out []string, err error) {
	orders, err := c.Orders(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := c.List(ctx, "")
	if err != nil {
		return nil, err
	}
	young := map[string]bool{}
	for _, r := range runs {
		if !r.State.Over() || !old(r.Changed) {
			young[r.Batch] = true
		}
	}
	for _, o := range orders {
		if !young[o.ID] && old(o.Created) {
			out = append(out, o.ID)
		}
	}
	return out, nil
}

// Sessions returns the conversations of all rounds of a run, and the one of a command's result,
// whose name the command chose.
func (r Run) Sessions() (out []session.ID) {
	if r.Result != nil && r.Result.Session != "" && r.Result.Session != r.sessionID() {
		out = append(out, r.Result.Session)
	}
	for round := range max(1, r.Round) {
		r.Round = round + 1
		out = append(out, r.sessionID())
	}
	return out
}

// Contents returns the names of what the run has among the blobs and inputs.
func (r Run) Contents() (out []string) {
	for _, name := range []string{r.Work.Blob, r.Patch, r.Kept.Saved} {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}
