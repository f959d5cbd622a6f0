// Package batch does the same kind of work in many repositories: each task in a clone of its own,
// by an adze of its own, with a sandbox, budgets and a session of its own; what comes of it is a
// patch and a line of JSON.
//
// The one rule: a task has one result. What is done is written down before the next thing is begun,
// so that a batch that was killed goes on where it was, and nothing runs twice: a session is
// resumed by its log, in which a call that was begun and has no outcome counts as aborted, and a
// command whose end nobody saw is told and not started again.
//
// Start reading at Batch.Run, then one.go (the steps of one task). task.go reads the file,
// source.go makes mirrors and clones, change.go makes patches, child.go runs adze, journal.go keeps
// results.
//
// Known limits: one machine. Submodules are not fetched. What a task does outside of its clone (a
// push by a tool of its own, a request to a server) is not taken back when it fails. A check that
// was cut off runs again.
package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/files/filelock"
	"adze/session"
)

// Batch is a file of tasks and how they are to be done.
type Batch struct {
	Tasks []Task
	Out   string // the folder of results, absolute
	// Mirrors is the folder of bare copies of repositories, absolute; batches share it.
	Mirrors string
	Quota   int64 // bytes that mirrors may have together; if 0, UsualQuota
	Jobs    int
	Flags   []string // of adze, for each task
	// Gate takes from flags of a run those that say where and what is allowed, for a command
	// without a model.
	Gate func(flags []string) []string
	// MaxTime takes from flags of a run how long a prompt may take, which holds for a command and a
	// check as well. It is 0 for any time. Optional.
	MaxTime  func(flags []string) time.Duration
	Program  string // this adze
	Env      []string
	Keys     []string // further variables, for adze alone: git and what tasks start do not see them
	Keep     Keep
	MaxCost  float64 // USD for all tasks together; if 0, any
	Push     bool    // push a branch where a task names one
	Sessions Sessions
	// SaveAfter is how long work is too short for a clone to be saved while it goes on.
	SaveAfter time.Duration
	Away      Away        // keeps how far a task is for other machines; if nil, the folder beside its clone
	Session   string      // the id of the session that a task begins; if empty, any
	Watch     func(State) // told of each change, by one caller at a time
	Observer  Observer    // if nil, there is none
	// Gone is told of a clone that was removed, so that what this program keeps of the folder goes
	// with it. Optional.
	Gone  func(clone string)
	Retry map[string]bool
	now   func() time.Time

	journal *journal
	purse   purse
	traced  sync.Map // what the adze in a clone gets of the observer
	mirrors mirrors
	latest  *change    // of the one task that is kept Away; if nil, its clone may have changed
	mu      sync.Mutex // of Watch
}

// Keep says which clones stay when their tasks are over.
type Keep string

// Which clones stay.
const (
	KeepNone   Keep = "none"
	KeepFailed Keep = "failed"
	KeepAll    Keep = "all"
)

// Sessions looks into the store of this user.
type Sessions interface {
	// Last is the newest session that was begun in a folder since then, and how its last turn
	// ended; an empty id: there is none, a nil result: it has not ended.
	Last(ctx context.Context, dir string, since time.Time) (session.ID, *session.Result, error)
}

// Stage is where a task stands.
type Stage string

// Stages in the order that they are gone through.
const (
	Waiting  Stage = "waiting"
	Fetching Stage = "fetching"
	Working  Stage = "working"
	Checking Stage = "checking"
	Patching Stage = "patching"
	Finished Stage = "finished"
	Stopped  Stage = "stopped" // before its end; the next run of the batch goes on with it
)

// State is what is known of a task while it runs.
type State struct {
	Task    Task
	Stage   Stage
	Doing   string // the newest call
	Turns   int
	Calls   int
	Cost    *float64 // USD so far; if nil, not known
	Resumed bool     // it goes on with a session of an earlier run
	Result  *Result  // when finished
	Told    string   // why it was stopped
}

// ErrMaxCost stops a batch whose money is spent.
var ErrMaxCost = errors.New("the tasks have cost what all of them may cost together")

// Report sums up a run.
type Report struct {
	Results  []Result // of all tasks that have one, in the order of the file
	Already  int      // of them, how many an earlier run had
	Waiting  []string // ids of tasks without a result, or whose new try has none yet
	Cost     float64  // USD, of all results where it is known
	Begun    float64  // USD, of tasks without a result
	Unpriced int      // results whose cost is not known
}

// Do does the one task that is in Tasks, whose progress is kept Away. An error says why it has no
// result: the cause with which ctx ended, or one that wraps ErrKept or what else went wrong on this
// machine; the result then has what it has cost so far, alone. Its patch is below Out.
func (b *Batch) Do(ctx context.Context) (Result, error) {
	if err := b.prepare(); err != nil {
		return Result{}, err
	}
	defer b.sweep()
	t := b.Tasks[0]
	s := State{Task: t, Stage: Waiting}
	r, err := b.steps(ctx, t, &s)
	if err == nil && ctx.Err() != nil && r.Cause != CauseDone {
		err = context.Cause(ctx)
	}
	if err != nil {
		b.saveLast(ctx, t, &s, err)
		return Result{Cost: s.Cost}, err
	}
	return r, nil
}

// ErrBusy says that another process has the folder of results.
var ErrBusy = errors.New("another adze batch works there")

// busy tells why the lock of a folder could not be had.
func busy(out string, err error) error {
	if errors.Is(err, filelock.ErrHeld) {
		return fmt.Errorf("%w: %s", ErrBusy, out)
	}
	return fmt.Errorf("the lock of %s could not be taken: %w", out, err)
}

// Remove removes the clone of the one task that is in Tasks, with all that is kept of it.
func (b *Batch) Remove() { b.remove(b.Tasks[0]) }

// prepare makes the folders that a batch needs.
func (b *Batch) prepare() error {
	if b.now == nil {
		b.now = time.Now
	}
	if b.purse.empty == nil {
		b.purse.empty = func() {}
	}
	b.mirrors.dir = b.Mirrors
	for _, dir := range []string{b.Out, filepath.Join(b.Out, "patches"), filepath.Join(b.Out, "work"), b.Mirrors} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Run does the tasks that have no result yet. The error is why it stopped before all had one.
func (b *Batch) Run(ctx context.Context) (Report, error) {
	if err := b.prepare(); err != nil {
		return Report{}, err
	}
	unlock, err := filelock.Try(filepath.Join(b.Out, "lock"))
	if err != nil {
		return Report{}, busy(b.Out, err)
	}
	defer unlock()
	if b.journal, err = openJournal(filepath.Join(b.Out, "results.jsonl")); err != nil {
		return Report{}, err
	}
	defer b.journal.Close()
	if err := b.mayCommit(ctx); err != nil {
		return Report{}, err
	}
	defer b.sweep()
	return b.runAll(ctx)
}

func (b *Batch) runAll(ctx context.Context) (Report, error) {
	var left []Task
	already := 0
	for _, t := range b.Tasks {
		done, err := b.finished(t)
		switch {
		case err != nil:
			return Report{}, err
		case done:
			already++
		default:
			left = append(left, t)
		}
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.purse.most, b.purse.empty = b.MaxCost, func() { stop(ErrMaxCost) }
	b.purse.Spent = b.journal.cost() + b.owed(left)
	b.purse.look()
	queue := make(chan Task)
	var workers sync.WaitGroup
	for range max(1, min(b.Jobs, len(left))) {
		workers.Go(func() {
			for t := range queue {
				if err := b.one(ctx, t); err != nil {
					stop(err) // the results cannot be kept: nothing more is begun
				}
			}
		})
	}
	for _, t := range left {
		select {
		case queue <- t:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(queue)
	workers.Wait()
	return b.report(already), context.Cause(ctx)
}

// report reads what there is.
func (b *Batch) report(already int) Report {
	out := Report{Already: already, Begun: b.owed(b.Tasks)}
	for _, t := range b.Tasks {
		r, done := b.journal.Last(t.ID)
		if !done || b.retries(t, r) {
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

// tell lets the watcher know, one at a time.
func (b *Batch) tell(s State) {
	if b.Watch == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Watch(s)
}

// dir is where a task has its clone and what is remembered of it until it has a result.
func (b *Batch) dir(t Task) string { return filepath.Join(b.Out, "work", t.ID) }

// clone is where a task works.
func (b *Batch) clone(t Task) string { return filepath.Join(b.dir(t), "repository") }

// clear takes the clone of a task that is over away, unless it is to stay. What cannot be removed
// stays: the result is what counts.
func (b *Batch) clear(t Task, r Result) {
	if b.Keep == KeepAll || b.Keep == KeepFailed && !r.OK {
		return
	}
	b.remove(t)
}

// remove removes the clone of a task with all that is kept of it.
func (b *Batch) remove(t Task) {
	clone := b.clone(t)
	if real, err := filepath.EvalSymlinks(clone); err == nil {
		clone = real
	}
	_ = os.RemoveAll(b.dir(t)) // what cannot be removed stays
	if b.Gone != nil {
		b.Gone(clone)
	}
}
