package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"adze/internal/files/atomicfile"
)

// Progress is what is remembered of a task until it has a result. It lies where no tool may write:
// beside the clone, or Away.
type Progress struct {
	Base    string    `json:"base,omitempty"`    // the clone is made, of this commit
	Checked *Checked  `json:"checked,omitempty"` // the check was run
	Began   time.Time `json:"began,omitzero"`
	Started int       `json:"started,omitempty"` // how often the work was begun
	Ran     *Result   `json:"ran,omitempty"`     // the work is over, and this is what came of it
	Cost    float64   `json:"cost,omitempty"`    // USD, when it was stopped; a result counts it, too
	Retries time.Time `json:"retries,omitzero"`  // the end of the result after which this is a new try
	// Saved names what had changed in the clone when it was last put Away; Calls is how many calls
	// of the prompt had ended by then.
	Saved string `json:"saved,omitempty"`
	Calls int    `json:"calls,omitempty"`
	Files int    `json:"files,omitempty"` // how many files that changes
	// Pushing holds the commits that the task's branch may have been pushed at, the newest last. A
	// new try takes that branch up.
	Pushing []string `json:"pushing,omitempty"`
}

// Away keeps what must outlive this machine, of one task. Contract:
//   - Progress is what was kept last, by whoever had the task;
//   - Keep fails when somebody else has the task now: then nothing more may be done;
//   - Save keeps a patch and names it; Fetch writes the patch of that name to a file.
type Away interface {
	Progress() Progress
	Keep(ctx context.Context, p Progress) error
	Save(ctx context.Context, patch string) (name string, err error)
	Fetch(ctx context.Context, name, to string) error
}

// remembered is the zero value for a task that was not begun. Of one that cannot be read nobody
// knows whether it was.
func (b *Batch) remembered(t Task) (p Progress, err error) {
	if b.Away != nil {
		return b.Away.Progress(), nil
	}
	path := filepath.Join(b.dir(t), "state.json")
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Progress{}, nil
	case err == nil:
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return Progress{}, fmt.Errorf("%w: how far %s is could not be read; remove %s to begin it anew: %w", ErrKept, t.ID, path, err)
	}
	return p, nil
}

// retries reports that a task is being tried again after a result.
func (b *Batch) retries(t Task, r Result) bool {
	p, err := b.remembered(t)
	return err == nil && p.Retries.Equal(r.Ended) && !r.Ended.IsZero()
}

// finished reports that a task has a result and is not to be tried again. A new try begins in a new
// clone, and one that was stopped goes on.
func (b *Batch) finished(t Task) (bool, error) {
	r, done := b.journal.Last(t.ID)
	if !done {
		return false, nil
	}
	if _, err := b.remembered(t); err != nil {
		return false, err
	}
	switch {
	case b.retries(t, r):
		return false, nil
	case !b.Retry[r.Cause]:
		b.clear(t, r)
		return true, nil
	}
	if err := os.RemoveAll(b.dir(t)); err != nil {
		return false, err
	}
	if err := os.MkdirAll(b.dir(t), 0o700); err != nil {
		return false, err
	}
	return false, b.remember(context.Background(), t, Progress{Retries: r.Ended})
}

// owe remembers what a task has cost that is stopped before its end. Where that cannot be written,
// the next run finds out when it goes on with it.
func (b *Batch) owe(t Task, cost *float64) {
	if p, err := b.remembered(t); err == nil && cost != nil && p.Base != "" {
		p.Cost = *cost
		_ = b.remember(context.Background(), t, p)
	}
}

// owed is what tasks without a result have cost.
func (b *Batch) owed(tasks []Task) (sum float64) {
	for _, t := range tasks {
		p, _ := b.remembered(t) // what cannot be read is told when the task is begun
		sum += p.Cost
	}
	return sum
}

// remember writes it as a whole, so that it survives a power cut.
func (b *Batch) remember(ctx context.Context, t Task, p Progress) error {
	if b.Away != nil {
		return b.Away.Keep(ctx, p)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	path := filepath.Join(b.dir(t), "state.json")
	if err := atomicfile.Write(path, raw); err != nil {
		return fmt.Errorf("how far %s is could not be written: %w", t.ID, err)
	}
	return nil
}
