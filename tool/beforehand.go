package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// What is known of a call before a user is asked about it, and how long they take. A question about
// what cannot work is none: the gate calls Question.Check first, and the call fails with what that
// found.

// errUnseen ends a check that would have to look at what only a user may allow.
var errUnseen = fmt.Errorf("not known before it is allowed: %w", ErrDenied)

// check asks the tool why the call cannot work. What it may not look at, and a check that fails
// inside, are no reason.
func (x *execution) check(ctx context.Context, may func(Need) bool) error {
	b := x.common()
	b.metadata, b.wait = nil, nil
	b.ask = func(_ context.Context, n Need) error {
		if may == nil || !may(Permissions{}.cover([]Need{n})[0]) {
			return errUnseen
		}
		return nil
	}
	flaw, panicked := guard(x, func() error { return x.h.bound.check(ctx, b) })
	if panicked != nil || flaw == nil || errors.Is(flaw, ErrDenied) || ctx.Err() != nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.flaw = flaw
	return flaw
}

// found is what the check found; if nil, nothing, or there was none.
func (x *execution) found() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.flaw
}

// preview is what a user sees of the call. That nothing can be shown is said, so that nobody takes
// it for nothing to be done.
func (x *execution) preview(ctx context.Context) []Block {
	type shown struct {
		blocks []Block
		err    error
	}
	got, panicked := guard(x, func() (s shown) { s.blocks, s.err = x.h.bound.preview(ctx); return s })
	if panicked != nil {
		got.err = panicked
	}
	if got.err != nil {
		return append(got.blocks, Text("what it would do cannot be shown: "+cut(got.err.Error(), maxPreviewError))...)
	}
	return got.blocks
}

// maxPreviewError bounds, in runes, what a user is shown of why there is no preview.
const maxPreviewError = 1_000

// waits counts how long a call waited for a user; several waits at the same time count once.
type waits struct {
	mu    sync.Mutex
	open  int
	since time.Time
	sum   time.Duration
}

// wait notes that a user is waited for, until the function that it returns is called.
func (x *execution) wait() (over func()) {
	tell := func() {}
	if x.runner.Waits != nil {
		tell = x.runner.Waits()
	}
	x.waits.begin(x.runner.now())
	return sync.OnceFunc(func() {
		x.waits.end(x.runner.now())
		tell()
	})
}

func (w *waits) begin(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open++; w.open == 1 {
		w.since = now
	}
}

func (w *waits) end(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open--; w.open == 0 {
		w.sum += now.Sub(w.since)
	}
}

// total is what was waited until now.
func (w *waits) total(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open > 0 {
		return w.sum + now.Sub(w.since)
	}
	return w.sum
}
