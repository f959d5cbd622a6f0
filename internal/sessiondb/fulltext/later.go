package fulltext

import (
	"context"
	"fmt"
	"sync"
	"time"

	"adze/internal/sessiondb"
)

// A Later searches and updates the index in the background. It has its own connection, opened by
// the first search, so writers do not wait for it.
type Later struct {
	path string // of the store

	mu     sync.Mutex // guards the following fields
	logs   *sessiondb.Store
	stop   context.CancelFunc
	update chan error // receives the running update's error; nil if none runs
}

// NewLater returns a Later for the store at path without opening it.
func NewLater(path string) *Later { return &Later{path: path} }

// patience is how long a search waits for the index's update before searching the outdated one.
const patience = 300 * time.Millisecond

// Search searches for words. note is set if the index is not up to date.
func (l *Later) Search(ctx context.Context, q Query) (hits []Hit, note string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.logs == nil {
		if l.logs, err = sessiondb.Open(context.Background(), l.path, sessiondb.Options{}); err != nil {
			return nil, "", err
		}
	}
	if l.update == nil {
		l.begin()
	}
	select {
	case err := <-l.update:
		l.update = nil
		if err != nil {
			note = fmt.Sprintf("what was said last may be missing: %v", err)
		}
	case <-time.After(patience):
		note = "the search index is being made"
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	hits, more, err := Search(ctx, l.logs, q)
	if more && note == "" {
		note = "and more"
	}
	return hits, note, err
}

// begin starts updating the index.
func (l *Later) begin() {
	ctx, stop := context.WithCancel(context.Background())
	logs, update := l.logs, make(chan error, 1)
	l.stop, l.update = stop, update
	go func() { update <- Update(ctx, logs, nil) }()
}

// Close stops the update.
func (l *Later) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.logs == nil {
		return nil
	}
	if l.update != nil {
		l.stop()
		<-l.update
	}
	err := l.logs.Close()
	l.logs, l.update = nil, nil
	return err
}
