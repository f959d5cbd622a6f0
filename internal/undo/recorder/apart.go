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

// A call whose commands change the folder only through Applying, or say so to Live before they
// start, needs no state before it: most change nothing, or change little in a large folder. Its
// intent names the last state that was taken, which is provisional. The state from which on the
// call changed something is taken when that is about to happen, of no more than what is about to
// change, and noted in the store until the call has ended, for whoever goes on after a kill.

// apart knows the calls of that kind that run.
type apart struct {
	mu    sync.Mutex
	calls []*apartCall
}

type apartCall struct {
	tag    string // of its commands; calls of several sessions may have the same
	before session.State
	from   *session.State // if nil, it has changed nothing
	to     *session.State // when it has changed what it will; if nil, that is looked at when it has ended
}

func (a *apart) add(c *apartCall) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = append(a.calls, c)
}

// of are the calls of a tag.
func (a *apart) of(tag string) (out []*apartCall) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		if c.tag == tag {
			out = append(out, c)
		}
	}
	return out
}

// begun reports that the call that began with a state has changed something, or ended.
func (a *apart) begun(before session.State) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.calls, func(c *apartCall) bool { return c.before.At == before.At })
	return i < 0 || a.calls[i].from != nil
}

// end takes out the call that began with a state.
func (a *apart) end(before session.State) (found apartCall) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls = slices.DeleteFunc(a.calls, func(c *apartCall) bool {
		if c.before.At == before.At {
			found = *c
		}
		return c.before.At == before.At
	})
	return found
}

// tagOf is the tag of the commands of a call, as package proc makes it.
func tagOf(call tool.CallID) string { return strings.ReplaceAll(string(call), "/", "_") }

// beforeApart is Before for a call of this kind. No state: none was taken yet.
func (k *Keeper) beforeApart(r tool.Record) *session.State {
	if k.o.Apart == nil || !k.o.Apart(r) || k.narrow {
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
	k.apart.add(&apartCall{tag: tagOf(r.Call), before: state})
	return &state
}

// Applying calls apply, which applies what a command of a call changed to the paths, absolute, and
// returns those that it did change. The states before and after are taken of these alone. With an
// error nothing was applied, because what was there could not be kept.
func (k *Keeper) Applying(tag string, paths []string, apply func() []string) error {
	var calls []*apartCall
	if k != nil {
		calls = k.apart.of(tag)
	}
	if len(calls) == 0 || len(paths) == 0 {
		done := apply()
		if k != nil && len(done) > 0 {
			k.o.ChangeLog.named(k.relative(done))
		}
		return nil
	}
	k.mu.Lock() // nobody else's state comes in between
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
		_ = k.record(calls[0]) // without it, a kill before the call ends has its changes looked for
	}
	return nil
}

// record stores how far a call is, for whoever goes on after a kill.
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
		err = nil // what had no room is left out, and told
	}
	return mark, err
}

// Live takes the state of the folder before a command starts that changes the folder itself, where
// it is of a call that has none yet. A command of no such call, as a hook's or a server's, may
// belong to each that runs.
func (k *Keeper) Live(ctx context.Context, tag string) error {
	if k == nil {
		return nil
	}
	calls := k.apart.of(tag)
	if len(calls) == 0 {
		k.apart.mu.Lock()
		calls = slices.Clone(k.apart.calls)
		k.apart.mu.Unlock()
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

// began notes the state from which on calls change something, unless they have begun.
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
	return filepath.Join(ws.State(), "began."+strconv.FormatInt(before.At, 10)+".json")
}

// begunAt is the window in which a call of a dead process may have changed something; without an
// end, that is now. False: it has changed nothing.
func begunAt(ws *undo.Workspace, before session.State) (w session.Window, begun bool) {
	if !before.Provisional {
		return session.Window{Before: before}, true
	}
	data, err := os.ReadFile(beganFile(ws, before))
	return w, err == nil && json.Unmarshal(data, &w) == nil
}

// unchanged is the window of a call that changed nothing.
func unchanged(before session.State) session.Window {
	return session.Window{Before: before, After: &before}
}

// exact adds to a window what changed in it. The call did nothing else, but for what a walk of the
// whole folder met beside it.
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

// Past reads the log of the session, with the states from which on calls of a dead process changed
// something.
func (d Manager) Past(ctx context.Context) (*Past, error) {
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
