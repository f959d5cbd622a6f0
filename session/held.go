package session

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"adze/tool"
)

// A commit syncs the disk, which costs more than most reads. So an answer with calls waits for
// their outcomes, or for the first intent to change something, and all are one commit. Events wait
// behind held entries, and nothing acts on these: an intent is stored with them; a hook or a
// question to the user has them stored first. A kill meanwhile loses only entries that nobody saw.

// holdsFor is an answer's longest wait for its outcomes: too short to notice, and longer than most
// reads.
const holdsFor = 20 * time.Millisecond

// heldEvent holds entries to be stored and the events to send then.
type heldEvent struct {
	storing sync.Mutex // serializes appends, so that held entries come first
	entries []Entry
	lost    error // why held entries were not stored; blocks storing until forget
	timer   *time.Timer

	// Under Session.watch.
	on     bool
	events []Event
}

// store saves the held entries and then the given ones in one commit, even if ctx has ended: an
// abort must not lose earlier entries.
func (s *Session) store(ctx context.Context, entries ...Entry) error {
	h := &s.heldEvents
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
	if err != nil && len(entries) > 0 && entries[0].Type == IntentEntry { // a store that keeps unsaved entries keeps no intent
		h.lost = add(h.entries)
	}
	s.release(h.lost == nil)
	return err
}

// hold delays an answer. Only the turn's goroutine calls it.
func (s *Session) hold(answer Entry) {
	h := &s.heldEvents
	h.storing.Lock()
	defer h.storing.Unlock()
	h.entries = append(h.entries, answer)
	s.watch.Lock()
	h.on = true
	s.watch.Unlock()
	h.timer = time.AfterFunc(holdsFor, func() { _ = s.store(context.Background()) }) // if this fails, the next entry fails too
}

// add queues entries behind held ones, or returns false if nothing is held.
func (h *heldEvent) add(entries []Entry) bool {
	h.storing.Lock()
	defer h.storing.Unlock()
	if len(h.entries) == 0 {
		return false
	}
	h.entries = append(h.entries, entries...)
	return true
}

// release ends the wait. Events for unstored entries are dropped. The caller holds h.storing.
func (s *Session) release(stored bool) {
	h := &s.heldEvents
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

// forget reports whether held entries were lost, and allows storing again.
func (h *heldEvent) forget() bool {
	h.storing.Lock()
	defer h.storing.Unlock()
	lost := h.lost != nil
	h.lost = nil
	return lost
}

// mayWait reports whether all calls read files they name, do not run, or record an intent: none
// needs an earlier record.
func mayWait(calls []tool.Hydration) bool {
	return !slices.ContainsFunc(calls, func(h tool.Hydration) bool { return !h.Reads() && !h.RecordsIntent() })
}
