package input

import (
	"encoding/json"
	"slices"
	"sync"

	uv "github.com/charmbracelet/ultraviolet"
)

// Ahead holds the keys and pastes that were read from a terminal and not obeyed yet, in order. An
// interface that ends leaves in it the keys for the next one. The zero value is ready. Its methods
// are safe for concurrent use.
type Ahead struct {
	mu     sync.Mutex
	events []uv.Event
}

// Keeps reports whether an event is one that Ahead holds: a key or a paste.
func Keeps(e uv.Event) bool {
	switch e.(type) {
	case uv.KeyPressEvent, uv.PasteEvent:
		return true
	}
	return false
}

// Add puts events behind the others.
func (a *Ahead) Add(events ...uv.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, events...)
}

// Before puts events before the others.
func (a *Ahead) Before(events ...uv.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = slices.Concat(events, a.events)
}

// Next takes the oldest event out; if nil, there is none.
func (a *Ahead) Next() uv.Event {
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

// Len is the number of events.
func (a *Ahead) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.events)
}

// written is an event as another process gets it.
type written struct {
	Key   *uv.KeyPressEvent `json:"key,omitempty"`
	Paste *string           `json:"paste,omitempty"`
}

// Take takes all events out, in the form that Give reads.
func (a *Ahead) Take() []byte {
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
	b, _ := json.Marshal(all) // of numbers and texts
	return b
}

// Give puts the events of Take before the others. It ignores what Take did not write whole.
func (a *Ahead) Give(b []byte) {
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
	a.Before(events...)
}
