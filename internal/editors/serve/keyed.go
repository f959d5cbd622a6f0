package serve

import (
	"context"
	"net/http"
	"slices"
	"sync"
)

// onceByKey runs each action with a key once, so a page that lost the response can repeat its
// request.
type onceByKey struct {
	ctx  context.Context // of the server
	ends *sync.WaitGroup // as in Server

	mu    sync.Mutex
	all   map[string]*outcome
	order []string // keys, oldest first
}

type outcome struct {
	known  chan struct{} // closed when available
	result any
	err    error
}

// Limits of the remembered outcomes.
const (
	maxKey  = 100  // bytes of a key
	maxOnce = 1000 // keys
)

// do runs an action, or waits for the outcome of the earlier one with this key. With a key, it
// continues after the request ends. A failed action had no effect and may be repeated.
func (k *onceByKey) do(ctx context.Context, of, key string, act func(context.Context) (any, error)) (any, error) {
	switch {
	case key == "":
		return act(ctx)
	case len(key) > maxKey:
		return nil, &refusal{http.StatusBadRequest, "the key of an action has at most 100 bytes"}
	case k.ctx.Err() != nil:
		return nil, errEnds
	}
	key = of + "\n" + key
	k.mu.Lock()
	o := k.all[key]
	if o == nil {
		o = &outcome{known: make(chan struct{})}
		k.all[key] = o
		if k.order = append(k.order, key); len(k.order) > maxOnce {
			delete(k.all, k.order[0])
			k.order = k.order[1:]
		}
		k.ends.Go(func() {
			if o.result, o.err = act(k.ctx); o.err != nil {
				k.mu.Lock()
				delete(k.all, key)
				k.order = slices.DeleteFunc(k.order, func(old string) bool { return old == key })
				k.mu.Unlock()
			}
			close(o.known)
		})
	}
	k.mu.Unlock()
	select {
	case <-o.known:
		return o.result, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
