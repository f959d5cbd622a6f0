package input

import (
	"encoding/json"
	"slices"
	"sync"

	uv "github.com/charmbracelet/ultraviolet"
)

// PendingKeys holds keys and pastes read from a terminal but not handled yet, in order. An
// interface that ends leaves keys in it for the next one. The zero value is ready. Its methods are
// safe for concurrent use.
type PendingKeys struct {
	mu     sync.Mutex
	events []uv.Event
}

// Keeps reports whether PendingKeys holds such an event: a key or a paste.
func Keeps(e uv.Event) bool {
	switch e.(type) {
	case uv.KeyPressEvent, uv.PasteEvent:
		return true
	}
	return false
}

// Add appends events.
func (a *PendingKeys) Add(events ...uv.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, events...)
}

// Prepend inserts events before the others.
func (a *PendingKeys) Prepend(events ...uv.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = slices.Concat(events, a.events)
}

// Next removes and returns the oldest event, or nil.
func (a *PendingKeys) Next() uv.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.events) == 0 {
		return nil
	}
	e := a.events[0]
	a.events[0] = nil
	a.events = a.events[1:]
	return e
}

// Len returns the number of events.
func (a *PendingKeys) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.events)
}

// written is an event in the format for another process.
type written struct {
	Key   *uv.KeyPressEvent `json:"key,omitempty"`
	Paste *string           `json:"paste,omitempty"`
}

// Take removes all events and returns them in Give's format.
func (a *PendingKeys) Take() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []written
	for _, e := range a.events {
		switch e := e.(type) {
		case uv.KeyPressEvent:
			all = append(all, written{Key: &e})
		case uv.PasteEvent:
			all = append(all, written{Paste: &e.Content})
		}
	}
	a.events = nil
	b, _ := json.Marshal(all) // numbers and strings cannot fail
	return b
}

// Give inserts events from Take before the others. It ignores invalid data.
func (a *PendingKeys) Give(b []byte) {
	var all []written
	if json.Unmarshal(b, &all) != nil {
		return
	}
	var events []uv.Event
	for _, w := range all {
		switch {
		case w.Key != nil:
			events = append(events, *w.Key)
		case w.Paste != nil:
			events = append(events, uv.PasteEvent{Content: *w.Paste})
		}
	}
	a.Prepend(events...)
}
