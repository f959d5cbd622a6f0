package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"adze/internal/osfile/atomicfile"
	"adze/internal/undo"
	"adze/session"
	"adze/tool"
)

// A call needs no state before it if its commands change the folder only through Applying or
// announce themselves to Live: most such calls change little or nothing. Its intent refers to the
// last state, marked provisional. The state before its first change is taken right before that
// change, of the affected paths alone, and recorded in the store until the call ends, for recovery
// after a crash.

// separateCalls holds the running calls of this kind.
type separateCalls struct {
	mu    sync.Mutex
	calls []*apartCall
}

type apartCall struct {
	tag    string // of its commands; calls of different sessions may share one
	before session.State
	from   *session.State // nil until its first change
	to     *session.State // after its last change; if nil, taken when the call ends
}

func (a *separateCalls) add(c *apartCall) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, c)
}

// of returns the calls with a tag.
func (a *separateCalls) of(tag string) (out []*apartCall) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		if c.tag == tag {
			out = append(out, c)
		}
	}
	return out
}

// begun reports whether the call with this state before it has changed something or has ended.
func (a *separateCalls) begun(before session.State) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.calls, func(c *apartCall) bool { return c.before.Time == before.Time })
	return i < 0 || a.calls[i].from != nil
}

// end removes the call with this state before it.
func (a *separateCalls) end(before session.State) (found apartCall) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = slices.DeleteFunc(a.calls, func(c *apartCall) bool {
		if c.before.Time == before.Time {
			found = *c
		}
		return c.before.Time == before.Time
	})
	return found
}

// tagOf returns the tag of a call's commands, as package proc forms it.
func tagOf(call tool.CallID) string { return strings.ReplaceAll(string(call), "/", "_") }

// beforeApart is Before for such a call. It returns nil if no state was taken yet.
func (k *Keeper) beforeApart(r tool.Record) *session.State {
	if k.o.Separate == nil || !k.o.Separate(r) || k.narrow {
		return nil
	}
	mark, ok := k.ws.Last()
	if !ok {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	state := k.state(mark)
	state.Provisional = true
	k.separate.add(&apartCall{tag: tagOf(r.Call), before: state})
	return &state
}

// Applying calls apply, which applies a command's changes to the given absolute paths and returns
// the changed ones. Only these paths are covered by the states before and after. An error means the
// present files could not be stored and apply was not called.
func (k *Keeper) Applying(tag string, paths []string, apply func() []string) error {
	var calls []*apartCall
	if k != nil {
		calls = k.separate.of(tag)
	}
	if len(calls) == 0 || len(paths) == 0 {
		done := apply()
		if k != nil && len(done) > 0 {
			k.o.ChangeLog.named(k.relative(done))
		}
		return nil
	}
	k.mu.Lock() // keeps other states from coming in between
	defer k.mu.Unlock()
	mark, err := k.takeAt(k.relative(paths))
	if err == nil {
		err = k.began(calls, k.state(mark))
	}
	if err != nil && k.o.Failed != nil {
		err = k.o.Failed(k.life, err)
	}
	if err != nil {
		return err
	}
	done := k.relative(apply())
	k.o.ChangeLog.named(done)
	if len(calls) > 1 { // one of them did it
		return nil
	}
	if mark, err := k.takeAt(done); err == nil && calls[0].from != nil {
		to := k.state(mark)
		calls[0].to = &to
		_ = k.record(calls[0]) // without it, recovery after a crash searches for the call's changes
	}
	return nil
}

// record stores a call's progress for recovery after a crash.
func (k *Keeper) record(c *apartCall) error {
	data, err := json.Marshal(session.Window{Before: *c.from, After: c.to})
	if err != nil {
		return err
	}
	return atomicfile.WriteCache(beganFile(k.ws, c.before), data)
}

func (k *Keeper) relative(paths []string) (own []string) {
	for _, path := range paths {
		if rel, err := filepath.Rel(k.o.Root, path); err == nil && filepath.IsLocal(rel) {
			own = append(own, filepath.ToSlash(rel))
		}
	}
	return own
}

func (k *Keeper) takeAt(paths []string) (undo.Mark, error) {
	mark, err := k.ws.TakeAt(k.life, paths)
	if errors.Is(err, undo.ErrSpace) && !mark.IsZero() {
		err = nil // entries that did not fit are reported as left out
	}
	return mark, err
}

// Live takes the folder's state before a command that changes the folder directly, if its call has
// none yet. A command without a call, such as a hook's or a server's, is attributed to all running
// calls.
func (k *Keeper) Live(ctx context.Context, tag string) error {
	if k == nil {
		return nil
	}
	calls := k.separate.of(tag)
	if len(calls) == 0 {
		k.separate.mu.Lock()
		calls = slices.Clone(k.separate.calls)
		k.separate.mu.Unlock()
	}
	if len(calls) == 0 {
		return nil
	}
	state, _, err := k.take(ctx, nil)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		err = k.began(calls, state)
	}
	if err != nil && k.o.Failed != nil && ctx.Err() == nil {
		err = k.o.Failed(ctx, err)
	}
	return err
}

// began records the state before the calls' first change, unless they already have one.
func (k *Keeper) began(calls []*apartCall, state session.State) error {
	for _, c := range calls {
		if c.to = nil; c.from == nil {
			c.from = &state
		}
		if err := k.record(c); err != nil {
			return err
		}
	}
	return nil
}

func beganFile(ws *undo.Workspace, before session.State) string {
	return filepath.Join(ws.State(), "began."+strconv.FormatInt(before.Time, 10)+".json")
}

// begunAt returns the window in which a dead process's call may have changed something, and false
// if it changed nothing. A window without an end extends to now.
func begunAt(ws *undo.Workspace, before session.State) (w session.Window, begun bool) {
	if !before.Provisional {
		return session.Window{Before: before}, true
	}
	data, err := os.ReadFile(beganFile(ws, before))
	return w, err == nil && json.Unmarshal(data, &w) == nil
}

// unchanged returns an empty window.
func unchanged(before session.State) session.Window {
	return session.Window{Before: before, After: &before}
}

// exact adds a window's changes. The call made them all, except changes by others that a full walk
// found.
func (k *Keeper) exact(ctx context.Context, w session.Window, own *ChangeLog) (session.Window, error) {
	from, err := undo.ParseMark(w.Before.Mark)
	if err != nil {
		return w, err
	}
	to, err := undo.ParseMark(w.After.Mark)
	if err != nil {
		return w, err
	}
	changes, err := k.ws.Diff(ctx, from, to)
	if err != nil {
		return w, fmt.Errorf("compare states: %w", err)
	}
	w.Changes, w.More = listed(changes)
	k.show(changes, w.Changes)
	doubt(&w, changes, own)
	return w, nil
}

// History reads the session's log and the recorded states of calls whose process died.
func (d Manager) History(ctx context.Context) (*History, error) {
	past, err := Read(ctx, d.Store, d.Session)
	if err != nil || d.Files == nil {
		return past, err
	}
	for i := range past.Turns {
		t := &past.Turns[i]
		t.Windows = slices.DeleteFunc(t.Windows, func(w session.Window) bool {
			_, begun := begunAt(d.Files, w.Before)
			return w.After == nil && !begun
		})
		for j := range t.Windows {
			if w := &t.Windows[j]; w.After == nil && w.Before.Provisional {
				begun, _ := begunAt(d.Files, w.Before)
				w.Before, w.After = begun.Before, begun.After
			}
		}
	}
	return past, nil
}
