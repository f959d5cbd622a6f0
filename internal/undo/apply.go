package undo

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/whole"
)

// Result is what Apply did.
type Result struct {
	ID      string    // of the plan
	Window  Window    // the undo itself: undo it, and what was undone is there again
	Done    []string  // paths that are as they were
	Refused []Refusal // paths that were left alone, with those of the plan
}

// Apply does what a plan says. The state that is there is taken before, and the plan is on the disk before the
// first change, so that a killed Apply is finished by Recover. It does not stop half-way when ctx ends.
func (w *Workspace) Apply(ctx context.Context, p Plan) (Result, error) {
	if err := w.turn.take(ctx); err != nil {
		return Result{}, err
	}
	defer w.turn.give()
	unlock, err := w.lock()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	w.namedBy(p.Steps)
	if p.Present, err = unlessSpace(w.takeLocked(ctx, settleSome)); err != nil {
		return Result{}, err
	}
	if err := w.writePlan(p); err != nil {
		return Result{}, fmt.Errorf("write the plan: %w", err)
	}
	return w.carryOut(context.WithoutCancel(ctx), p)
}

// Recover finishes what killed processes began, each where it stopped.
func (w *Workspace) Recover(ctx context.Context) ([]Result, error) {
	if err := w.turn.take(ctx); err != nil {
		return nil, err
	}
	defer w.turn.give()
	if plans, _ := filepath.Glob(filepath.Join(w.opts.State, "plan-*")); len(plans) == 0 {
		return nil, nil
	}
	unlock, err := w.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	plans, err := filepath.Glob(filepath.Join(w.opts.State, "plan-*"))
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, path := range plans {
		p, err := readPlan(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // its process finished it while this one waited for the lock
		}
		if err != nil {
			return results, fmt.Errorf("%s: %w; undo is left half-way there, see what it names", path, err)
		}
		r, err := w.carryOut(context.WithoutCancel(ctx), p)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

// carryOut does the steps of a plan that is on the disk, some of which may be done already.
func (w *Workspace) carryOut(ctx context.Context, p Plan) (Result, error) {
	root, err := openRoot(w.opts.Root, w.opts.plain)
	if err != nil {
		return Result{}, err
	}
	defer root.close()
	a := applier{w: w, root: root, id: p.ID, failed: map[string]string{}}
	a.run(p.Steps)
	if err := root.syncAll(); err != nil {
		return Result{}, fmt.Errorf("sync what was restored: %w", err)
	}
	w.namedBy(p.Steps)
	after, err := unlessSpace(w.takeLocked(ctx, settleAll))
	if err != nil {
		return Result{}, err
	}
	r := Result{ID: p.ID, Window: Window{p.Present, after}, Refused: p.Refused}
	for _, s := range p.Steps {
		if reason := a.failed[s.Path]; reason != "" {
			r.Refused = append(r.Refused, Refusal{s.Path, reason})
		} else {
			r.Done = append(r.Done, s.Path)
		}
	}
	slices.SortFunc(r.Refused, func(a, b Refusal) int { return strings.Compare(a.Path, b.Path) })
	return r, os.Remove(w.planPath(p.ID))
}

func (w *Workspace) planPath(id string) string {
	return filepath.Join(w.opts.State, "plan-"+id)
}

// writePlan puts a plan on the disk, whole or not at all.
func (w *Workspace) writePlan(p Plan) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(p); err != nil { // not JSON: names need not be UTF-8
		return err
	}
	w.moment()
	return whole.Write(w.planPath(p.ID), b.Bytes())
}

func readPlan(path string) (p Plan, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer f.Close()
	err = gob.NewDecoder(f).Decode(&p)
	if err == nil && filepath.Base(path) != "plan-"+p.ID {
		err = errors.New("the plan has another name")
	}
	return p, err
}
