package live

import (
	"slices"
	"sync"
)

// Once remembers recent actions by their keys: a caller that lost the outcome can ask again. The
// zero value is ready. It is safe for concurrent use.
type Once struct {
	mu    sync.Mutex
	all   map[string]*outcome
	order []string // the keys of actions that were done, the oldest first
}

// outcome is that of an action.
type outcome struct {
	known  chan struct{} // closed when it is
	result any
	err    error
}

// MaxKey is how long a key may be.
const MaxKey = 100

// maxOnce is how many keys are remembered.
const maxOnce = 1000

// Do does something, or returns the outcome of the action that was done by this key. It waits while
// that one runs. An action that failed had no effect, and can be done again. An empty key names
// nothing.
func (o *Once) Do(key string, do func() (any, error)) (any, error) {
	if key == "" {
		return do()
	}
	o.mu.Lock()
	first := o.all[key]
	if first != nil {
		o.mu.Unlock()
		<-first.known
		return first.result, first.err
	}
	if o.all == nil {
		o.all = map[string]*outcome{}
	}
	mine := &outcome{known: make(chan struct{})}
	o.all[key] = mine
	o.mu.Unlock()
	mine.result, mine.err = do()
	o.mu.Lock()
	defer o.mu.Unlock()
	close(mine.known)
	if mine.err != nil {
		delete(o.all, key)
		return mine.result, mine.err
	}
	if o.order = append(o.order, key); len(o.order) > maxOnce {
		delete(o.all, o.order[0])
		o.order = slices.Delete(o.order, 0, 1)
	}
	return mine.result, mine.err
}
