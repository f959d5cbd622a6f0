package tool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Checks of a call before the user is asked, and the time that users take. A call that cannot work
// needs no question: the gate calls Question.Check first, and the call fails with its error.

// errUnseen ends a check that needs a permission only the user can give.
var errUnseen = fmt.Errorf("not known before it is allowed: %w", ErrDenied)

// check asks the tool why the call cannot work. Missing permissions and failures inside the check
// are ignored.
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

// found returns the check's error; nil also if there was no check.
func (x *execution) found() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.flaw
}

// preview returns the user's preview. An error is shown too, so that nobody takes it for an empty
// preview.
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

// in runes
const maxPreviewError = 1_000

// waits adds up the time a call waited for users; concurrent waits count once.
type waits struct {
	mu    sync.Mutex
	open  int
	since time.Time
	sum   time.Duration
}

// wait starts a wait for the user, until over is called.
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

// total returns the time waited until now.
func (w *waits) total(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open > 0 {
		return w.sum + now.Sub(w.since)
	}
	return w.sum
}
