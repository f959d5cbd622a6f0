package sessiondb

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"adze/session"
)

// A Memory implements session.Store in memory, for tests and runs that store nothing. Use
// NewMemory.
type Memory struct {
	mu     sync.Mutex
	closed bool
	logs   map[session.ID][]session.Entry
	used   []session.ID // last used last
}

var _ session.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{logs: map[session.ID][]session.Entry{}} }

// Lock always succeeds: no other process can reach the store.
func (m *Memory) Lock(ctx context.Context, id session.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ready(ctx, id)
}

func (m *Memory) ready(ctx context.Context, id session.ID) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case m.closed:
		return ErrClosed
	case id == "":
		return errNoID()
	}
	return nil
}

// Append adds copies of all entries, or none.
func (m *Memory) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(ctx, id); err != nil {
		return err
	}
	if err := checkJSON(entries); err != nil || len(entries) == 0 {
		return err
	}
	for _, e := range copies(entries) {
		e.Time = FromNanos(Nanos(e.Time))
		m.logs[id] = append(m.logs[id], e)
	}
	m.used = append(slices.DeleteFunc(m.used, func(u session.ID) bool { return u == id }), id)
	return nil
}

// Load returns copies of all entries of id.
func (m *Memory) Load(_ context.Context, id session.ID) ([]session.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	log := m.logs[id]
	if len(log) == 0 {
		return nil, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	return copies(log), nil
}

// List returns the sessions, last used first.
func (m *Memory) List(context.Context) ([]session.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	var heads []session.Head
	for _, id := range m.used {
		heads = append(heads, headOf(id, m.logs[id]))
	}
	slices.Reverse(heads)
	slices.SortStableFunc(heads, func(a, b session.Head) int { return b.Updated.Compare(a.Updated) })
	return heads, nil
}

func headOf(id session.ID, log []session.Entry) session.Head {
	h := session.Head{ID: id, Created: log[0].Time, Updated: log[len(log)-1].Time, Entries: len(log)}
	if o := openingOf(log, &writer{}); o != nil {
		if o.start != nil {
			h.Start = []byte(*o.start)
		}
		if o.first != nil {
			h.First = []byte(*o.first)
		}
	}
	return h
}

// Close deletes everything.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.logs, m.used = true, nil, nil
	return nil
}

// copies keeps the caller's and the log's bytes separate.
func copies(entries []session.Entry) []session.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Data = bytes.Clone(out[i].Data)
	}
	return out
}
