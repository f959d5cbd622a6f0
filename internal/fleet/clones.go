package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"adze/internal/batch"
)

// Clones does attempts by the steps of package batch, each in a folder of its own that goes with
// it.
type Clones struct {
	New func() (*batch.Batch, error) // with what it needs of this program
	Dir string                       // of this worker alone, absolute
	// Env has the adze of a task keep its session where all workers find it. Sessions looks there.
	Env      []string
	Sessions func(id string) batch.Sessions
}

// Do does one attempt.
func (c Clones) Do(ctx context.Context, j Job) (r batch.Result, patch string, err error) {
	b, err := c.New()
	if err != nil {
		return r, "", err
	}
	b.Out = filepath.Join(c.Dir, j.Run.ID)
	if err := os.RemoveAll(b.Out); err != nil {
		return r, "", err
	}
	defer func() { _ = os.RemoveAll(b.Out) }() // what cannot be removed goes when the next worker begins
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

// Claim takes a folder below dir for a worker of this machine, and removes those of workers that
// are gone. The folder is this process's until it ends.
func Claim(dir string, lock func(path string) (unlock func(), err error)) (own string, unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	// Only one worker claims at a time: another one would take a lock that is made but not held yet
	// for one that is left.
	claiming := flock.New(filepath.Join(dir, "claiming"), flock.SetPermissions(0o600))
	if err := claiming.Lock(); err != nil {
		return "", nil, err
	}
	defer claiming.Close()
	old, err := filepath.Glob(filepath.Join(dir, "*.lock"))
	if err != nil {
		return "", nil, err
	}
	for _, path := range old {
		if free, err := lock(path); err == nil {
			err := errors.Join(os.RemoveAll(strings.TrimSuffix(path, ".lock")), os.Remove(path))
			if free(); err != nil {
				return "", nil, err
			}
		}
	}
	if own, err = os.MkdirTemp(dir, "w"); err != nil {
		return "", nil, err
	}
	unlock, err = lock(own + ".lock")
	return own, unlock, err
}
