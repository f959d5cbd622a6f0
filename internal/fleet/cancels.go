package fleet

import (
	"context"
	"errors"
	"strings"
	"time"
)

// watchCancels stops what somebody cancels. When the watch breaks, it is begun again; each attempt
// looks for itself when it begins.
func (w *Worker) watchCancels(ctx context.Context) {
	for ctx.Err() == nil {
		changes, err := w.Cancels.Watch(ctx, "")
		seen, caught := map[string]int{}, false
		for err == nil {
			r, open := <-changes
			if !open {
				break
			}
			if c, err := parse[cancel](r); !r.Caught && err == nil {
				w.cancelLive(r.Key, c.Round, seen)
			}
			if caught = caught || r.Caught; caught {
				w.know(seen)
			}
		}
		w.know(nil)
		again := time.NewTimer(idleMost)
		select {
		case <-ctx.Done():
		case <-again.C:
		}
		again.Stop()
	}
}

// know has what is cancelled be looked up here, or asked for where it is nil.
func (w *Worker) know(stopped map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = stopped
}

// isCancelled asks the server where the watch does not know.
func (w *Worker) isCancelled(ctx context.Context, r Run) (bool, error) {
	w.mu.Lock()
	round, known := max(w.stopped[r.ID], w.stopped[wholeBatch(r.Batch)]), w.stopped != nil
	w.mu.Unlock()
	if known {
		return round >= r.Round, nil
	}
	for _, key := range []string{r.ID, wholeBatch(r.Batch)} {
		c, _, err := read[cancel](ctx, w.Cancels, key)
		if err != nil && !errors.Is(err, ErrNone) {
			return false, err
		}
		if c.Round >= r.Round {
			return true, nil
		}
	}
	return false, nil
}

// cancelLive stops a run, or those of a batch, up to a round.
func (w *Worker) cancelLive(key string, round int, seen map[string]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen[key] = round
	for run, l := range w.live {
		if of, _, _ := strings.Cut(run, "."); (run == key || wholeBatch(of) == key) && l.round <= round {
			l.stop(ErrCancelled)
		}
	}
}
