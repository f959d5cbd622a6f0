package undo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
)

// turn admits one goroutine at a time. Unlike with a mutex, waiting for it can be canceled.
type turn chan struct{}

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (t turn) give() { <-t }

func (w *Workspace) take(ctx context.Context, settle int64) (Mark, error) {
	if err := w.turn.take(ctx); err != nil {
		return Mark{}, err
	}
	defer w.turn.give()
	return w.takeLocked(ctx, settle)
}

// errAgain means looking at single paths, or in parallel, is not enough: walk everything in order.
var errAgain = errors.New("walk again")

// takeLocked is Take for a caller that holds the turn.
func (w *Workspace) takeLocked(ctx context.Context, settle int64) (Mark, error) {
	w.looked.Store(0)
	k, tree, err := w.look(ctx, settle)
	if err != nil {
		return Mark{}, fmt.Errorf("take the state of %s: %w", w.opts.Root, err)
	}
	return w.keepTree(k, tree)
}

// keepTree stores a walker's tree as the last state.
func (w *Workspace) keepTree(k *walker, tree *dir) (Mark, error) {
	if err := errors.Join(w.list(tree), w.store.Sync()); err != nil {
		if full(err) {
			err = fmt.Errorf("%w (%w)", ErrSpace, err)
		}
		return Mark{}, err
	}
	w.saved = w.saved && !k.changed.Load()
	if tree != w.tree {
		w.tree = tree
		if !k.some || k.moved {
			w.left, w.uncovered, w.overLimit = leftOut(tree)
		}
	}
	if !k.some {
		w.fullyWalked, w.dropped = true, w.store.Dropped()
	}
	return Mark{tree.hash}, w.lacked()
}

// lacked returns ErrSpace with the entries that did not fit.
func (w *Workspace) lacked() error {
	if !w.overLimit {
		return nil
	}
	files, bytes, first := 0, int64(0), ""
	for _, l := range w.left {
		if l.Reason == leftSpace {
			first = cmp.Or(first, l.Path)
			files++
			bytes += l.Size
		}
	}
	if files == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d files, %d bytes: %s …", ErrSpace, files, bytes, first)
}

// unlessSpace drops ErrSpace for callers that continue with an incomplete state.
func unlessSpace(m Mark, err error) (Mark, error) {
	if errors.Is(err, ErrSpace) && !m.IsZero() {
		return m, nil
	}
	return m, err
}

// full reports whether an error means the disk is full.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func (w *Workspace) look(ctx context.Context, settle int64) (*walker, *dir, error) {
	root, err := openRoot(w.opts.Root) // reopened each time: the folder may have been replaced
	if err != nil {
		return nil, nil, err
	}
	defer root.close()
	if w.opts.Named {
		return w.lookAtNamed(ctx, root)
	}
	if top, err := root.stat("."); err == nil {
		w.top = top.inode
	}
	return w.lookAtAll(ctx, root, settle)
}

func (w *Workspace) lookAtAll(ctx context.Context, root folder, settle int64) (*walker, *dir, error) {
	several := w.workers > 1 && !w.overLimit
	for {
		if err := root.rewind(); err != nil { // an aborted look may have read part of it
			return nil, nil, err
		}
		dropped := w.store.Dropped()
		k, err := w.newWalker(ctx, settle)
		if err != nil {
			return nil, nil, err
		}
		k.ordered = !several
		k.team.SetLimit(w.workers - 1) // this goroutine is a worker too
		tree, err := k.walk(root)
		switch {
		case errors.Is(err, errAgain) && several:
			several = false
		case err == nil && dropped != w.store.Dropped(): // content the tree relied on turned out to be damaged
		default:
			return k, tree, err
		}
	}
}

// workers returns the number of goroutines that read and compress.
func workers() int { return min(runtime.GOMAXPROCS(0), 4) }
