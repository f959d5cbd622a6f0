package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"adze/session"
)

// memory is a store of one session. What it keeps goes through JSON, as on a disk.
type memory struct {
	mu      sync.Mutex
	entries []session.Entry
}

func (m *memory) Lock(context.Context, session.ID) error       { return nil }
func (m *memory) Close() error                                 { return nil }
func (m *memory) List(context.Context) ([]session.Head, error) { return nil, nil }
func (m *memory) Load(context.Context, session.ID) ([]session.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]session.Entry(nil), m.entries...), nil
}

func (m *memory) Append(_ context.Context, _ session.ID, entries ...session.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range entries {
		if !json.Valid(e.Data) {
			return fmt.Errorf("an entry %s that is not JSON", e.Type)
		}
	}
	m.entries = append(m.entries, entries...)
	return nil
}
