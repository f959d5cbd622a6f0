package fulltext

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"adze/internal/sessiondb"
)

// Later is an index that is opened by the first search, and brought up to date beside each. It
// reads the log by a connection of its own, so that nobody who writes waits for it.
type Later struct {
	path string // of the store

	mu     sync.Mutex // guards what follows
	logs   *sessiondb.Store
	index  *Index
	stop   context.CancelFunc
	update chan error // gives the error of the update that runs; nil if none does
}

// NewLater is the index of the store at path. It opens nothing.
func NewLater(path string) *Later { return &Later{path: path} }

// patience is how long a search waits for the index to be up to date; then it looks into what is
// there.
const patience = 300 * time.Millisecond

// Search looks for words. While the index is not up to date, note says so.
func (l *Later) Search(ctx context.Context, q Query) (hits []Hit, note string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.index == nil {
		if err := l.open(); err != nil {
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
	hits, more, err := l.index.Search(ctx, q)
	if damaged(err) {
		return nil, "", errors.Join(err, l.close()) // the next search opens it anew
	}
	if more && note == "" {
		note = "and more"
	}
	return hits, note, err
}

// begin starts to bring the index up to date.
func (l *Later) begin() {
	ctx, stop := context.WithCancel(context.Background())
	x, update := l.index, make(chan error, 1)
	l.stop, l.update = stop, update
	go func() { update <- x.Update(ctx, nil) }()
}

func (l *Later) open() (err error) {
	if l.logs, err = sessiondb.Look(context.Background(), l.path, sessiondb.Options{}); err != nil {
		return err
	}
	if l.index, err = Open(context.Background(), filepath.Join(filepath.Dir(l.path), File), l.logs); err != nil {
		return errors.Join(err, l.logs.Close())
	}
	return nil
}

// Close ends the update and closes the index.
func (l *Later) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.close()
}

func (l *Later) close() error {
	if l.index == nil {
		return nil
	}
	if l.update != nil {
		l.stop()
		<-l.update
	}
	err := errors.Join(l.index.Close(), l.logs.Close())
	l.index, l.logs, l.update = nil, nil, nil
	return err
}
