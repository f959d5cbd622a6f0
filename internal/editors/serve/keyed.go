package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"adze/internal/live"
)

// onceByKey does actions that bring a key, each once.
type onceByKey struct {
	ctx  context.Context // of the server
	ends *sync.WaitGroup // as in Server
	once live.Once
}

// do does an action of a sender. With a key it goes on when the request ends, so that it has an
// outcome when its sender asks again.
func (k *onceByKey) do(ctx context.Context, of []string, key string, act func(context.Context) (any, error)) (any, error) {
	switch {
	case key == "":
		return act(ctx)
	case len(key) > live.MaxKey:
		return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("the key of an action has at most %d bytes", live.MaxKey)}
	case k.ctx.Err() != nil:
		return nil, errEnds
	}
	type outcome struct {
		is  any
		err error
	}
	told := make(chan outcome, 1)
	k.ends.Go(func() {
		lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		defer context.AfterFunc(k.ctx, cancel)()
		is, err := k.once.Do(strings.Join(append(of, key), "\n"), func() (any, error) { return act(lasting) })
		told <- outcome{is, err}
	})
	select {
	case o := <-told:
		return o.is, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
