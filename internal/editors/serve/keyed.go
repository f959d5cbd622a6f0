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
	ctx context.Context // of the server

	mu    sync.Mutex
	all   map[string]func() (any, error)
	order []string // keys, oldest first
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
	}
	key = of + "\n" + key
	k.mu.Lock()
	do := k.all[key]
	if do == nil {
		do = sync.OnceValues(func() (any, error) {
			out, err := act(k.ctx)
			if err != nil {
				k.mu.Lock()
				defer k.mu.Unlock()
				delete(k.all, key)
				k.order = slices.DeleteFunc(k.order, func(old string) bool { return old == key })
			}
			return out, err
		})
		k.all[key] = do
		if k.order = append(k.order, key); len(k.order) > maxOnce {
			delete(k.all, k.order[0])
			k.order = k.order[1:]
		}
	}
	k.mu.Unlock()
	return do()
}
