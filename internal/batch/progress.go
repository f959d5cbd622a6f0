package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"adze/internal/whole"
)

// Progress is what is remembered of a task until it has a result. It lies where no tool may write: beside the clone, or Away.
type Progress struct {
	Base    string    `json:"base,omitempty"`    // the clone is made, of this commit
	Checked *Checked  `json:"checked,omitempty"` // the check was run
	Began   time.Time `json:"began,omitzero"`
	Started int       `json:"started,omitempty"` // how often the work was begun
	Ran     *Result   `json:"ran,omitempty"`     // the work is over, and this is what came of it
	Cost    float64   `json:"cost,omitempty"`    // USD, when it was stopped; a result counts it, too
	// Saved names what had changed in the clone when it was last put Away; Calls is how many calls of the prompt had ended by then.
	Saved string `json:"saved,omitempty"`
	Calls int    `json:"calls,omitempty"`
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

func (b *Batch) remembered(t Task) (p Progress) {
	if b.Away != nil {
		return b.Away.Progress()
	}
	raw, err := os.ReadFile(filepath.Join(b.dir(t), "state.json"))
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return Progress{}
	}
	return p
}

// owe remembers what a task has cost that is stopped before its end. Where that cannot be written, the next run finds out when it
// goes on with it.
func (b *Batch) owe(t Task, cost *float64) {
	if p := b.remembered(t); cost != nil && p.Base != "" {
		p.Cost = *cost
		_ = b.remember(context.Background(), t, p)
	}
}

// owed is what tasks without a result have cost.
func (b *Batch) owed(tasks []Task) (sum float64) {
	for _, t := range tasks {
		sum += b.remembered(t).Cost
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
	if err := whole.Write(path, raw); err != nil {
		return fmt.Errorf("how far %s is could not be written: %w", t.ID, err)
	}
	return nil
}
