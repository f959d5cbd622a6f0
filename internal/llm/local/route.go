package local

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"adze/session"
)

// Route is how a server is asked, as a look at its address has found.
type Route struct {
	Kind Kind // the program that answers there
	// Native speaks the program's own format; if nil, the given provider is as good.
	Native session.Provider
	// Limit tells how many tokens fit into a request to a model; if nil, nobody knows.
	Limit func(ctx context.Context, model string) int
	// Toolless reports a model that is known to take no tools; if nil, nobody knows.
	Toolless func(ctx context.Context, model string) bool
	// Notice mentions Native to the user, with the first answer.
	Notice string
	// Advice explains a failure of the given provider by what was found; optional.
	Advice func(failed *session.ProviderError) string
	// Unreached says that nobody answered the connection: nothing is decided yet. Slow says that the
	// look ended before all had answered.
	Unreached, Slow bool
}

// Router is the given provider, or the own format of the program behind its address: on its
// compatible formats an Ollama cuts prompts at its default context in silence, and its own takes
// the context of each request. The format is decided once, before the first request, and never
// changes; only an address that nobody can reach is looked at again. It is safe for concurrent
// use.
type Router struct {
	session.Provider
	look func(context.Context) Route

	asking chan struct{} // holds one token, for whoever looks

	mu      sync.Mutex
	found   Route
	decided bool
	spoke   bool // the notice was given
}

var _ session.Provider = (*Router)(nil)

// NewRouter makes a provider that looks behind the address of another. Look ends within a bound of
// its own, whatever becomes of ctx.
func NewRouter(p session.Provider, look func(context.Context) Route) *Router {
	return &Router{Provider: p, look: look, asking: make(chan struct{}, 1)}
}

// Known is what answers at the address. The first caller looks, and the others wait for what is
// found.
func (p *Router) Known(ctx context.Context) Route {
	if f, ok := p.decision(); ok {
		return f
	}
	select {
	case p.asking <- struct{}{}:
	case <-ctx.Done():
		return Route{}
	}
	if f, ok := p.decision(); ok {
		<-p.asking
		return f
	}
	done := make(chan Route, 1)
	go func() {
		defer func() { <-p.asking }()
		f := p.look(context.WithoutCancel(ctx)) // the answer is for all requests: the end of this one does not end it
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found, p.decided = f, !f.Unreached
		done <- f
	}()
	select {
	case f := <-done:
		return f
	case <-ctx.Done():
		return Route{}
	}
}

func (p *Router) decision() (Route, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found, p.decided
}

// Limit tells how many tokens fit into a request to a model, 0 when nobody knows; sure says that
// this was asked.
func (p *Router) Limit(ctx context.Context, model string) (tokens int, sure bool) {
	f := p.Known(ctx)
	if f.Limit == nil {
		return 0, ctx.Err() == nil && !f.Unreached
	}
	n := f.Limit(ctx, model)
	return n, n > 0
}

// Toolless reports a model that is known to take no tools.
func (p *Router) Toolless(ctx context.Context, model string) bool {
	f := p.Known(ctx)
	return f.Toolless != nil && f.Toolless(ctx, model)
}

// Stream asks the model in the format that was decided for.
func (p *Router) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		f := p.Known(ctx)
		asked := p.Provider
		if f.Native != nil {
			asked = f.Native
		}
		ending(asked.Stream(ctx, r), yield, func(done session.Done) session.Done { return p.explained(f, done) })
	}
}

// explained mentions the program's own format once, and explains a failure of the given provider by
// what was found.
func (p *Router) explained(f Route, done session.Done) session.Done {
	p.mu.Lock()
	defer p.mu.Unlock()
	var failed *session.ProviderError
	switch {
	case f.Native != nil && done.Err == nil && !p.spoke:
		p.spoke = true
		done.Notice = strings.Trim(f.Notice+"; "+done.Notice, "; ")
	case f.Native == nil && f.Advice != nil && errors.As(done.Err, &failed):
		if advice := f.Advice(failed); advice != "" {
			advised := *failed
			advised.Hint, done.Err = advice, &advised
		}
	}
	return done
}
