package behind

import (
	"context"
	"errors"
	"sync"
	"time"

	"adze/session"
)

// errNative ends a request that is made again in the program's own format.
var errNative = errors.New("asked in its own format")

// attempt is a request to an address of which nothing is known.
type attempt struct {
	provider *Provider
	yield    func(session.Chunk) bool

	mu       sync.Mutex
	begun    bool // the answer has begun to come: it is taken as it is
	switched bool // another request takes its place
}

// ask makes the request and looks behind the address when the answer does not come, or is a refusal. True: nothing
// was passed on, and the request is to be made in the program's own format.
func (a *attempt) ask(ctx context.Context, r session.Request) (again bool) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(a.provider.options.Patience, func() {
		if a.provider.look(inner).Native != nil && a.leave() {
			cancel(errNative)
		}
	})
	defer late.Stop()
	for c := range a.provider.Provider.Stream(inner, r) {
		done, end := c.(session.Done)
		if end && !a.started() && refused(done.Err) {
			f := a.provider.look(ctx)
			if f.Native != nil {
				return true
			}
			c = explained(f, done)
		}
		if !a.begin() {
			return true // what came is the end that the change made
		}
		if !a.yield(c) {
			return false
		}
	}
	return false
}

func (a *attempt) started() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.begun
}

// begin says that something came; false: another request takes this one's place.
func (a *attempt) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun = true
	return !a.switched
}

// leave gives the request up, unless its answer has begun.
func (a *attempt) leave() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.switched = !a.begun
	return a.switched
}

// refused reports a failure that the program behind the address may explain, or that its own format may spare.
func refused(err error) bool {
	var failed *session.ProviderError
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Kind {
	case session.RequestError, session.NoModelError, session.ContextError, session.BadResponse, session.ServerError:
		return true
	}
	return false
}
