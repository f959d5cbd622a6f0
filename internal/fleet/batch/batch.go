// Package batch does the same kind of work in many repositories: each task in a new clone, by an
// adze of its own, with a sandbox, budgets and a session of its own. What comes of a task is a
// patch and a line of JSON.
//
// The one rule: a task has one result. A task without a result begins anew, in a new clone, when
// the batch is run again: what an earlier try did outside its clone may be done twice.
//
// Start reading at Batch.Run, then Runner.Do (the steps of one task), which workers of package
// fleet use as well. task.go reads the file, clone.go makes clones, change.go makes patches and
// branches, child.go runs adze, result.go keeps results.
//
// Known limits: submodules are not fetched.
package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"adze/internal/osfile/filelock"
)

// Batch is a file of tasks and how they are to be done on this machine.
type Batch struct {
	*Runner
	Tasks   []Task
	Out     string // the folder of results, absolute
	Jobs    int
	Flags   []string // of adze, for each task; those of a task follow
	Push    bool     // push the branch that a task names
	MaxCost float64  // USD for all tasks together; if 0, any
	Retry   map[string]bool
	Watch   func(State) // called after each change, by one goroutine at a time. Optional.

	journal *Journal
	costs   costs
	mu      sync.Mutex // of Watch
}

// Stage is where a task stands.
type Stage string

// Stages in the order in which a task passes them.
const (
	Fetching Stage = "fetching"
	Working  Stage = "working"
	Checking Stage = "checking"
	Patching Stage = "patching"
	Finished Stage = "finished"
	Stopped  Stage = "stopped" // before its end; the next run of the batch begins it anew
)

// State is how far a task is.
type State struct {
	Task   Task
	Stage  Stage
	Doing  string // the newest call
	Turns  int
	Calls  int
	Cost   *float64 // USD so far; nil where it is not known
	Result *Result  // of a finished task
	Reason string   // why it was stopped
}

// Errors that end a batch.
var (
	ErrMaxCost = errors.New("the tasks have cost what all of them may cost together")
	ErrBusy    = errors.New("another adze batch works there")
)

// Report sums up a run.
type Report struct {
	Results  []Result // of all tasks that have one, in the order of the file
	Waiting  []string // ids of tasks without a result, or whose new try has none yet
	Cost     float64  // USD, of all results where it is known
	Stopped  float64  // USD, of tries that were stopped
	Unpriced int      // results whose cost is not known
}

// costs adds up what tasks cost.
type costs struct {
	mu    sync.Mutex
	spent float64 // by tries that are over
	now   map[string]float64
}

// set notes what a running task has cost so far, and returns the sum of all.
func (c *costs) set(task string, usd float64) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now[task] = usd
	sum := c.spent
	for _, usd := range c.now {
		sum += usd
	}
	return sum
}

// Run does the tasks that have no result yet. The error is why it stopped before all had one.
func (b *Batch) Run(ctx context.Context) (Report, error) {
	unlock, err := b.Open()
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	if b.Push {
		if err := b.mayCommit(ctx, b.Tasks); err != nil {
			return Report{}, err
		}
	}
	b.Dir = filepath.Join(b.Out, "work")
	if err := b.clearReferences(); err != nil {
		return Report{}, err
	}
	defer b.clearReferences() // what cannot be removed is removed by the next run
	var left []Task
	for _, t := range b.Tasks {
		if r, done := b.journal.Last(t.ID); !done || b.Retry[r.Cause] {
			left = append(left, t)
		}
	}
	return b.runAll(ctx, left)
}

// Open takes the folder of results for this process, until the function that it returns is called.
func (b *Batch) Open() (unlock func(), err error) {
	for _, dir := range []string{b.Out, filepath.Join(b.Out, "patches"), filepath.Join(b.Out, "work")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	free, err := filelock.Try(filepath.Join(b.Out, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%w: %s", ErrBusy, b.Out)
	}
	if err != nil {
		return nil, fmt.Errorf("the lock of %s could not be taken: %w", b.Out, err)
	}
	if b.journal, err = openJournal(b.Out); err != nil {
		free()
		return nil, err
	}
	return func() { _ = b.journal.Close(); free() }, nil // each line is on the disk
}

func (b *Batch) runAll(ctx context.Context, left []Task) (Report, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.costs = costs{spent: b.journal.cost(), now: map[string]float64{}}
	spend := func(task string, usd float64) {
		if sum := b.costs.set(task, usd); b.MaxCost > 0 && sum >= b.MaxCost {
			stop(ErrMaxCost)
		}
	}
	spend("", 0)
	queue := make(chan Task)
	var jobs sync.WaitGroup
	for range max(1, min(b.Jobs, len(left))) {
		jobs.Go(func() {
			for t := range queue {
				if err := b.one(ctx, t, spend); err != nil {
					stop(err) // the results cannot be kept: nothing more is begun
				}
			}
		})
	}
	for _, t := range left {
		if ctx.Err() != nil {
			break
		}
		select {
		case queue <- t:
		case <-ctx.Done():
		}
	}
	close(queue)
	jobs.Wait()
	return b.Report(left), context.Cause(ctx)
}

// one does a task. The error is about the folder of results.
func (b *Batch) one(ctx context.Context, t Task, spend func(string, float64)) error {
	s := State{Task: t}
	t.Flags = slices.Concat(b.Flags, t.Flags)
	if !b.Push {
		t.Branch = ""
	}
	r, err := b.Do(ctx, t, t.ID, filepath.Join(b.Out, "patches", t.ID+".patch"), func(line []byte) {
		if s.Read(line) {
			if s.Cost != nil {
				spend(t.ID, *s.Cost)
			}
			b.tell(s)
		}
	})
	if err != nil {
		s.Stage, s.Reason = Stopped, err.Error()
		b.tell(s)
		if s.Cost == nil {
			return nil
		}
		return b.journal.addStopped(t.ID, *s.Cost)
	}
	if r.Patch != "" {
		r.Patch = filepath.Join("patches", t.ID+".patch")
	}
	if err := b.journal.Add(r); err != nil {
		return err
	}
	if r.Cost != nil {
		spend(t.ID, *r.Cost)
	}
	s.Stage, s.Result, s.Cost = Finished, &r, r.Cost
	b.tell(s)
	return nil
}

// Report sums up the folder of results. Tasks of left have been begun by this run.
func (b *Batch) Report(left []Task) Report {
	out := Report{Stopped: b.journal.stopped}
	begun := map[string]bool{}
	for _, t := range left {
		begun[t.ID] = true
	}
	for _, t := range b.Tasks {
		r, done := b.journal.Last(t.ID)
		if !done || begun[t.ID] && !b.journal.isNew(t.ID) {
			out.Waiting = append(out.Waiting, t.ID)
			continue
		}
		out.Results = append(out.Results, r)
		if r.Cost == nil {
			out.Unpriced++
			continue
		}
		out.Cost += *r.Cost
	}
	return out
}

// tell calls the watcher, one at a time.
func (b *Batch) tell(s State) {
	if b.Watch == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Watch(s)
}

// Journal is the journal of an open folder.
func (b *Batch) Journal() *Journal { return b.journal }
