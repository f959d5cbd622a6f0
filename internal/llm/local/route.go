package local

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"adze/session"
)

// A Route describes how to talk to a server, as found at its address.
type Route struct {
	Kind Kind // the program there
	// Native speaks the program's own format; if nil, the given provider does as well.
	Native session.Provider
	// Limit returns the tokens that fit into a request; nil means unknown.
	Limit func(ctx context.Context, model string) int
	// Toolless reports whether a model is known to take no tools; nil means unknown.
	Toolless func(ctx context.Context, model string) bool
	// Notice announces Native to the user, with the first answer.
	Notice string
	// Advice explains a failure of the given provider; optional.
	Advice func(failed *session.ProviderError) string
	// Unreached: nobody accepted a connection, so nothing is decided yet. Slow: the query timed
	// out.
	Unreached, Slow bool
}

// A Router uses the given provider, or the own format of the program behind its address: in its
// compatible formats an Ollama silently cuts prompts at its default context, while its own format
// sets the context per request. The format is decided once, before the first request; only an
// unreachable address is queried again. It is safe for concurrent use.
type Router struct {
	session.Provider
	look func(context.Context) Route

	asking chan struct{} // a mutex that respects contexts

	mu      sync.Mutex
	found   Route
	decided bool
	spoke   bool // the notice was given
}

var _ session.Provider = (*Router)(nil)

// NewRouter returns a router that calls look to query the provider's address. look ends within its
// own time limit, whatever becomes of ctx.
func NewRouter(p session.Provider, look func(context.Context) Route) *Router {
	return &Router{Provider: p, look: look, asking: make(chan struct{}, 1)}
}

// Route returns the route. The first caller queries the server; the others wait for the result.
func (p *Router) Route(ctx context.Context) Route {
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
		f := p.look(context.WithoutCancel(ctx)) // the result serves all requests, so the end of this one does not cancel it
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

// Limit returns the tokens that fit into a request, or 0 if unknown; sure reports whether the
// server was asked.
func (p *Router) Limit(ctx context.Context, model string) (tokens int, sure bool) {
	f := p.Route(ctx)
	if f.Limit == nil {
		return 0, ctx.Err() == nil && !f.Unreached
	}
	n := f.Limit(ctx, model)
	return n, n > 0
}

// Toolless reports whether a model is known to take no tools.
func (p *Router) Toolless(ctx context.Context, model string) bool {
	f := p.Route(ctx)
	return f.Toolless != nil && f.Toolless(ctx, model)
}

// Stream sends the request in the decided format.
func (p *Router) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		f := p.Route(ctx)
		asked := p.Provider
		if f.Native != nil {
			asked = f.Native
		}
		ending(asked.Stream(ctx, r), yield, func(done session.Done) session.Done { return p.explained(f, done) })
	}
}

// explained announces the program's own format once, and explains a failure of the given provider.
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
