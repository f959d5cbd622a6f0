// Package batch runs the same kind of work in many repositories: each task in a new clone, by its
// own adze with a sandbox, budgets and a session. The result is a patch and a line of JSON.
//
// The one rule: a task has one result. A task without one restarts in a new clone when the batch
// runs again: an earlier attempt's effects outside its clone may happen twice.
//
// Start reading at Batch.Run, then Runner.RunTask (the steps of a task), which workers of package
// fleet use too. task.go reads the file, clone.go makes clones, change.go makes patches and
// branches, child.go runs adze, result.go stores results.
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

// A Batch is a file of tasks and its settings on this machine.
type Batch struct {
	*Runner
	Tasks     []Task
	OutputDir string // absolute folder for results
	Jobs      int
	Flags     []string // for each task's adze; the task's own follow
	Push      bool     // push a task's branch
	MaxCost   float64  // USD for all tasks; 0 for no limit
	Retry     map[string]bool
	Watch     func(State) // called after each change, one call at a time; may be nil

	journal *Journal
	costs   costs
	mu      sync.Mutex // guards Watch
}

// Stage is a task's progress.
type Stage string

// Stages in order.
const (
	Fetching Stage = "fetching"
	Working  Stage = "working"
	Checking Stage = "checking"
	Patching Stage = "patching"
	Finished Stage = "finished"
	Stopped  Stage = "stopped" // before its end; the next run restarts it
)

// State is a task's current state.
type State struct {
	Task       Task
	Stage      Stage
	LatestCall string // latest call
	Turns      int
	Calls      int
	Cost       *float64 // USD so far; nil if unknown
	Result     *Result  // of a finished task
	Reason     string   // why it was stopped
}

// Errors that end a batch.
var (
	ErrMaxCost = errors.New("the tasks have cost what all of them may cost together")
	ErrBusy    = errors.New("another adze batch works there")
)

// A Report sums up a run.
type Report struct {
	Results  []Result // all existing ones, in the file's order
	Waiting  []string // ids of tasks without a result, or restarted and not finished
	Cost     float64  // USD of all results with a known cost
	Stopped  float64  // USD of stopped attempts
	Unpriced int      // results with unknown cost
}

type costs struct {
	mu    sync.Mutex
	spent float64 // by finished attempts
	now   map[string]float64
}

// set records a running task's cost and returns the total.
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

// Run runs the tasks without a result. It returns an error if it stopped before all had one.
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
	b.Dir = filepath.Join(b.OutputDir, "work")
	if err := b.clearReferences(); err != nil {
		return Report{}, err
	}
	defer b.clearReferences() // the next run removes the rest
	var left []Task
	for _, t := range b.Tasks {
		if r, done := b.journal.Last(t.ID); !done || b.Retry[r.Cause] {
			left = append(left, t)
		}
	}
	return b.runAll(ctx, left)
}

// Open locks the result folder for this process until unlock is called.
func (b *Batch) Open() (unlock func(), err error) {
	for _, dir := range []string{b.OutputDir, filepath.Join(b.OutputDir, "patches"), filepath.Join(b.OutputDir, "work")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	free, err := filelock.Try(filepath.Join(b.OutputDir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("%w: %s", ErrBusy, b.OutputDir)
	}
	if err != nil {
		return nil, fmt.Errorf("the lock of %s could not be taken: %w", b.OutputDir, err)
	}
	if b.journal, err = openJournal(b.OutputDir); err != nil {
		free()
		return nil, err
	}
	return func() { _ = b.journal.Close(); free() }, nil // each line is already on disk
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
					stop(err) // results cannot be stored: start no more tasks
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

// one runs a task. Its error concerns the result folder.
func (b *Batch) one(ctx context.Context, t Task, spend func(string, float64)) error {
	s := State{Task: t}
	t.Flags = slices.Concat(b.Flags, t.Flags)
	if !b.Push {
		t.Branch = ""
	}
	r, err := b.RunTask(ctx, t, t.ID, filepath.Join(b.OutputDir, "patches", t.ID+".patch"), func(line []byte) {
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

// Report sums up the result folder. left holds the tasks that this run started.
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

func (b *Batch) tell(s State) {
	if b.Watch == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Watch(s)
}

// Journal returns the journal of an open folder.
func (b *Batch) Journal() *Journal { return b.journal }
