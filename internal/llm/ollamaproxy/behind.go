// Package ollamaproxy finds out which program answers at an address that the user calls compatible
// with OpenAI or Anthropic, and uses that program's own format where the compatible one loses
// something: on its compatible formats an Ollama cuts prompts at its default context in silence;
// its own takes the context of each request.
//
// The one rule: the format is decided once, before the first request, and never changes. The look
// has a bound; what has not answered by then is asked in the format that was given. Only an address
// that nobody can reach is looked at again.
//
// Start at Provider.Stream.
//
// Known limits: a program behind a gateway that hides its own addresses stays unknown, and is used
// as configured; only the counts of tokens show that its prompts were cut (package limits).
package ollamaproxy

import (
	"context"
	"errors"
	"iter"
	"sync"

	"adze/session"
)

// Found is what a look has found.
type Found struct {
	// Native speaks the program's own format; if nil, the given provider is as good.
	Native session.Provider
	// Limit tells how many tokens fit into a request to a model; if nil, nobody knows.
	Limit func(ctx context.Context, model string) int
	// Toolless reports a model that is known to take no tools; if nil, nobody knows.
	Toolless func(ctx context.Context, model string) bool
	// Notice tells the user of Native, with the first answer.
	Notice string
	// Advice explains a failure of the given provider by what was found; nil or nothing: it does
	// not.
	Advice func(failed *session.ProviderError) string
	// Unreached says that nobody answered the connection: nothing is decided yet.
	Unreached bool
}

// Provider is the given provider, or what was found behind its address. It is safe for concurrent
// use.
type Provider struct {
	session.Provider
	look func(context.Context) Found

	asking chan struct{} // holds one token, for whoever looks

	mu      sync.Mutex
	found   Found
	decided bool
	spoke   bool // the notice was given
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider that looks behind the address of another. Look ends within a bound of its
// own, whatever becomes of ctx.
func Wrap(p session.Provider, look func(context.Context) Found) *Provider {
	return &Provider{Provider: p, look: look, asking: make(chan struct{}, 1)}
}

// Warm looks ahead.
func (p *Provider) Warm(ctx context.Context) { go p.Known(ctx) }

// Known is what answers at the address. The first caller looks, and the others wait for what is
// found.
func (p *Provider) Known(ctx context.Context) Found {
	if f, ok := p.decision(); ok {
		return f
	}
	select {
	case p.asking <- struct{}{}:
	case <-ctx.Done():
		return Found{}
	}
	if f, ok := p.decision(); ok {
		<-p.asking
		return f
	}
	done := make(chan Found, 1)
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
		return Found{}
	}
}

func (p *Provider) decision() (Found, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found, p.decided
}

// Limit tells how many tokens fit into a request to a model, 0 when nobody knows; sure says that
// this was asked.
func (p *Provider) Limit(ctx context.Context, model string) (tokens int, sure bool) {
	f := p.Known(ctx)
	if f.Limit == nil {
		return 0, ctx.Err() == nil && !f.Unreached
	}
	n := f.Limit(ctx, model)
	return n, n > 0
}

// Toolless reports a model that is known to take no tools.
func (p *Provider) Toolless(ctx context.Context, model string) bool {
	f := p.Known(ctx)
	return f.Toolless != nil && f.Toolless(ctx, model)
}

// Stream asks the model in the format that was decided for.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		f := p.Known(ctx)
		asked := p.Provider
		if f.Native != nil {
			asked = f.Native
		}
		for c := range asked.Stream(ctx, r) {
			if done, ok := c.(session.Done); ok {
				c = p.noting(f, explained(f, done))
			}
			if !yield(c) {
				return
			}
		}
	}
}

// noting tells of the program's own format once.
func (p *Provider) noting(f Found, done session.Done) session.Done {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.Native == nil || done.Err != nil || p.spoke || f.Notice == "" {
		return done
	}
	p.spoke = true
	if done.Notice != "" {
		done.Notice = f.Notice + "; " + done.Notice
	} else {
		done.Notice = f.Notice
	}
	return done
}

// explained explains a failure of the given provider by what was found.
func explained(f Found, done session.Done) session.Done {
	var failed *session.ProviderError
	if f.Native != nil || f.Advice == nil || !errors.As(done.Err, &failed) {
		return done
	}
	if advice := f.Advice(failed); advice != "" {
		told := *failed
		told.Hint = advice
		done.Err = &told
	}
	return done
}
