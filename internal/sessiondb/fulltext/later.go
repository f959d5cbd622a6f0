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

// Later is an index that is opened when it is asked first, and brought up to date beside that. It
// reads the log by a connection of its own, so that nobody who writes waits for it.
type Later struct {
	path string // of the store

	mu     sync.Mutex
	logs   *sessiondb.Store
	index  *Index
	ctx    context.Context
	stop   context.CancelFunc
	update *update // the last that began
}

// update is a process of bringing the index up to date.
type update struct {
	ended chan struct{}
	mu    sync.Mutex
	done  int64
	total int64
	err   error
}

// NewLater is the index of the store at path. It opens nothing.
func NewLater(path string) *Later { return &Later{path: path} }

// patience is how long a search waits for the index to be up to date; then it looks into what is
// there.
const patience = 300 * time.Millisecond

// Search looks for words. While the index is not up to date, note says so.
func (l *Later) Search(ctx context.Context, q Query) (hits []Hit, note string, err error) {
	x, u, err := l.begin()
	if err != nil {
		return nil, "", err
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-u.ended:
	case <-wait.C:
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	hits, more, err := x.Search(ctx, q)
	if more {
		note = "and more"
	}
	return hits, u.note(note), err
}

// begin opens the index if that was not done, and begins to bring it up to date.
func (l *Later) begin() (*Index, *update, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.index == nil {
		if err := l.open(); err != nil {
			return nil, nil, err
		}
	}
	if l.update != nil {
		select {
		case <-l.update.ended:
		default:
			return l.index, l.update, nil
		}
	}
	u := &update{ended: make(chan struct{})}
	l.update = u
	go func(x *Index, ctx context.Context) {
		defer close(u.ended)
		err := x.Update(ctx, u.tell)
		u.mu.Lock()
		defer u.mu.Unlock()
		u.err = err
	}(l.index, l.ctx)
	return l.index, u, nil
}

func (l *Later) open() (err error) {
	l.ctx, l.stop = context.WithCancel(context.Background())
	if l.logs, err = sessiondb.Look(l.ctx, l.path, sessiondb.Options{}); err == nil {
		l.index, err = Open(l.ctx, filepath.Join(filepath.Dir(l.path), File), l.logs)
	}
	if err != nil {
		l.stop()
		if l.logs != nil {
			err = errors.Join(err, l.logs.Close())
		}
		l.logs = nil
	}
	return err
}

func (u *update) tell(done, total int64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.done, u.total = done, total
	return nil
}

// note adds how far the update is.
func (u *update) note(text string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-u.ended:
		if u.err != nil && !errors.Is(u.err, context.Canceled) {
			return fmt.Sprintf("what was said last may be missing: %v", u.err)
		}
		return text
	default:
	}
	return fmt.Sprintf("the search index is being made: %d of %d entries are read", u.done, u.total)
}

// Close ends the update and closes the index.
func (l *Later) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.index == nil {
		return nil
	}
	l.stop()
	<-l.update.ended
	err := errors.Join(l.index.Close(), l.logs.Close())
	l.index, l.logs = nil, nil
	return err
}
