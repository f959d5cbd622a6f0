package undo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Result is the outcome of Apply.
type Result struct {
	ID      string    // the plan's ID
	Window  Window    // the undo itself; undoing this window is the redo
	Done    []string  // restored paths
	Refused []Refusal // paths left alone, including the plan's
}

// Apply carries out a plan. It takes the present state first and writes the plan to disk before the
// first change, so Recover finishes a killed Apply. It does not stop halfway when ctx ends. The
// result stays in the journal until Discard. After an error, Journal reports whether anything was
// changed.
func (w *Workspace) Apply(ctx context.Context, p Plan) (Result, error) {
	if w.opts.Look {
		return Result{}, ErrLook
	}
	if err := w.turn.take(ctx); err != nil {
		return Result{}, err
	}
	defer w.turn.give()
	unlock, err := w.lock()
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	if p.Present, err = unlessSpace(w.takeSome(ctx, pathsOf(p.Steps), settleSome)); err != nil {
		return Result{}, err
	}
	if err := w.writeJournal(w.planPath(p.ID), p); err != nil {
		return Result{}, fmt.Errorf("write the plan: %w", err)
	}
	return w.carryOut(context.WithoutCancel(ctx), p)
}

// Recover finishes the plans of killed processes, each from where it stopped.
func (w *Workspace) Recover(ctx context.Context) ([]Result, error) {
	if err := w.turn.take(ctx); err != nil {
		return nil, err
	}
	defer w.turn.give()
	if plans, _ := filepath.Glob(w.planPath("*")); len(plans) == 0 || w.opts.Look {
		return nil, nil
	}
	unlock, err := w.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	plans, err := filepath.Glob(w.planPath("*"))
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
			return results, fmt.Errorf("%w; undo is left half-way there, see what it names", err)
		}
		if stage, _, err := w.Journal(p.ID); err == nil && stage == Applied {
			if err := os.Remove(path); err != nil { // the process was killed between the two
				return results, err
			}
			continue
		}
		r, err := w.carryOut(context.WithoutCancel(ctx), p)
		if err != nil {
			return results, err
		}
		results = append(results, r)
	}
	return results, nil
}

// carryOut runs the steps of a plan that is on disk. Some may be done already.
func (w *Workspace) carryOut(ctx context.Context, p Plan) (Result, error) {
	root, err := openRoot(w.opts.Root)
	if err != nil {
		return Result{}, err
	}
	defer root.close()
	a := applier{w: w, root: root, id: p.ID, failed: map[string]string{}, lacks: map[string]string{}}
	a.run(p.Steps)
	if err := root.syncAll(); err != nil {
		return Result{}, fmt.Errorf("sync what was restored: %w", err)
	}
	after, err := unlessSpace(w.takeSome(ctx, pathsOf(p.Steps), settleAll))
	if err != nil {
		return Result{}, err
	}
	r := Result{ID: p.ID, Window: Window{p.Present, after}, Refused: p.Refused}
	for _, s := range p.Steps {
		if reason := a.failed[s.Path]; reason != "" {
			r.Refused = append(r.Refused, Refusal{s.Path, reason})
		} else {
			r.Done = append(r.Done, s.Path)
			if reason := a.lacks[s.Path]; reason != "" {
				r.Refused = append(r.Refused, Refusal{s.Path, reason})
			}
		}
	}
	slices.SortFunc(r.Refused, func(a, b Refusal) int { return strings.Compare(a.Path, b.Path) })
	return r, w.endJournal(r)
}

func pathsOf(steps []Step) []string {
	paths := make([]string, len(steps))
	for i, s := range steps {
		paths[i] = s.Path
	}
	return paths
}
