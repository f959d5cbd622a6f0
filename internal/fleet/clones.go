package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/filelock"
	"adze/internal/fleet/batch"
	"adze/session"
)

// Clones does attempts by the steps of package batch, each in a folder of its own that goes with
// it.
type Clones struct {
	New func() (*batch.Batch, error) // with what it needs of this program
	Dir string                       // of this worker alone, absolute
	// Env has the adze of a task keep its session where all workers find it. Sessions looks there.
	Env      []string
	Sessions func(id string) batch.Sessions
	// Outputs removes what this machine keeps of the calls of a session. Optional.
	Outputs func(id session.ID)
}

// Do does one attempt.
func (c Clones) Do(ctx context.Context, j Job) (r batch.Result, patch string, err error) {
	// Both name folders here, and come from whoever submitted the task.
	if err := j.Task.Sound(); err != nil || !soundRun(j.Run.ID) {
		return batch.Result{Task: j.Task.ID, Line: j.Run.Line, Cause: string(session.CauseUsage), Message: fmt.Sprintf("it is no task: %v", cmp.Or(err, errRunID))}, "", nil
	}
	b, err := c.New()
	if err != nil {
		return r, "", err
	}
	b.Out = filepath.Join(c.Dir, j.Run.ID)
	if err := os.RemoveAll(b.Out); err != nil {
		return r, "", err
	}
	defer func() { c.remove(b, j, r) }()
	b.Tasks, b.Flags, b.Push, b.Watch, b.Away = []batch.Task{j.Task}, j.Order.Flags, j.Order.Push, j.Watch, j.Away
	b.Env = slices.Concat(b.Env, c.Env)
	if j.MaxCost > 0 { // the last one counts, so it stands behind those of the task
		b.Tasks[0].Flags = append(slices.Clone(j.Task.Flags), fmt.Sprintf("--max-cost=%g", j.MaxCost))
	}
	b.Session, b.Sessions = j.Run.Session, c.Sessions(j.Run.Session)
	if r, err = b.Do(ctx); err != nil || r.Patch == "" {
		return r, "", err
	}
	if patch, err = j.Away.Save(ctx, filepath.Join(b.Out, r.Patch)); err != nil {
		return batch.Result{Cost: r.Cost}, "", fmt.Errorf("the patch could not be kept: %w", err)
	}
	return r, patch, nil
}

var errRunID = errors.New("the id of its run names no folder")

// soundRun reports an id of a run that this program could have made: BATCH.TASK.
func soundRun(id string) bool {
	of, task, dotted := strings.Cut(id, ".")
	return dotted && of != "" && task != "" && strings.Trim(of+task, letters) == ""
}

// remove removes what an attempt left on this machine. By now the server has its patch and its
// session, or the attempt came to nothing.
func (c Clones) remove(b *batch.Batch, j Job, r batch.Result) {
	b.Remove()
	_ = os.RemoveAll(b.Out) // what cannot be removed goes when the next worker begins
	if c.Outputs == nil {
		return
	}
	for _, id := range []session.ID{session.ID(j.Run.Session), r.Session} {
		if id != "" {
			c.Outputs(id)
		}
	}
}

// Claim takes a folder below dir for a worker of this machine, and removes those of workers that
// are gone, after they were told to gone. The folder is this process's until it ends.
func Claim(dir string, gone func(left string)) (own string, unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	// Only one worker claims at a time: another one would take a lock that is made but not held yet
	// for one that is left.
	claimed, err := filelock.Wait(context.Background(), filepath.Join(dir, "claiming"))
	if err != nil {
		return "", nil, err
	}
	defer claimed()
	old, err := filepath.Glob(filepath.Join(dir, "*.lock"))
	if err != nil {
		return "", nil, err
	}
	for _, path := range old {
		if free, err := filelock.Try(path); err == nil {
			left := strings.TrimSuffix(path, ".lock")
			gone(left)
			err := errors.Join(os.RemoveAll(left), os.Remove(path))
			if free(); err != nil {
				return "", nil, err
			}
		}
	}
	if own, err = os.MkdirTemp(dir, "w"); err != nil {
		return "", nil, err
	}
	unlock, err = filelock.Try(own + ".lock")
	return own, unlock, err
}
