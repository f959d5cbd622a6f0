package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adze/tool"
)

// A commit syncs the disk, which costs more than most calls that only look at files. So an answer
// with calls waits for their outcomes, or for the intent of one that may change something, and all
// of it is one commit. The rule is kept: while something waits to be stored, events wait behind it,
// and nothing acts on it before: an intent is stored with it, a hook and a question to a user have
// it stored first. A kill meanwhile loses only what nobody was shown.

// holdsFor is how long an answer waits for the outcomes of its calls: a user sees no difference,
// and most reads take less.
const holdsFor = 20 * time.Millisecond

// heldEvent is what waits to be stored, and what is shown then.
type heldEvent struct {
	storing sync.Mutex // one append at a time, so that what waits comes first
	entries []Entry
	lost    error // why what waited was not stored; nothing is, until forget
	timer   *time.Timer

	// Under Session.watch.
	on     bool
	events []Event
}

// store saves entries, and before them, in the same commit, what waits. It does so even when ctx
// has ended: an abort must not lose what happened before it.
func (s *Session) store(ctx context.Context, entries ...Entry) error {
	h := &s.held
	h.storing.Lock()
	defer h.storing.Unlock()
	if h.lost != nil {
		return h.lost
	}
	waited := len(h.entries) > 0
	all := entries
	if waited {
		all = slices.Concat(h.entries, entries)
	}
	if len(all) == 0 {
		return nil
	}
	add := func(entries []Entry) error {
		err := s.config.Store.Append(context.WithoutCancel(ctx), s.config.ID, entries...)
		if err != nil {
			err = fmt.Errorf("%w: %w", errStore, err)
		}
		return err
	}
	err := add(all)
	if !waited {
		return err
	}
	h.lost = err
	if err != nil && len(entries) > 0 && entries[0].Type == IntentEntry { // a store that keeps what it cannot save keeps no intent
		h.lost = add(h.entries)
	}
	s.release(h.lost == nil)
	return err
}

// hold has an answer wait. Only the goroutine of the turn calls it.
func (s *Session) hold(answer Entry) {
	h := &s.held
	h.storing.Lock()
	defer h.storing.Unlock()
	h.entries = append(h.entries, answer)
	s.watch.Lock()
	h.on = true
	s.watch.Unlock()
	h.timer = time.AfterFunc(holdsFor, func() { _ = s.store(context.Background()) }) // a failure is not lost: the next entry fails, too
}

// add has entries wait where others do already; if false, none do.
func (h *heldEvent) add(entries []Entry) bool {
	h.storing.Lock()
	defer h.storing.Unlock()
	if len(h.entries) == 0 {
		return false
	}
	h.entries = append(h.entries, entries...)
	return true
}

// release ends the wait. Entries that could not be stored are never shown. The caller holds
// h.storing.
func (s *Session) release(stored bool) {
	h := &s.held
	h.entries = nil
	h.timer.Stop()
	s.watch.Lock()
	defer s.watch.Unlock()
	events := h.events
	h.on, h.events = false, nil
	for _, e := range events {
		switch e.(type) {
		case MessageDone, Counted, ToolQueued, ToolStart, ToolUpdate, ToolAsk, ToolEnd:
			if !stored {
				continue
			}
		}
		s.config.Observe(e)
	}
}

// forget reports whether what waited was lost, and lets entries be stored again.
func (h *heldEvent) forget() bool {
	h.storing.Lock()
	defer h.storing.Unlock()
	lost := h.lost != nil
	h.lost = nil
	return lost
}

// mayWait reports calls that look at files they name, do not run at all, or have an intent
// recorded: nothing of them needs a record before that.
func mayWait(calls []tool.Hydration) bool {
	return !slices.ContainsFunc(calls, func(h tool.Hydration) bool { return !h.Reads() && !h.Intends() })
}
