// Package behind finds out which program answers at an address that a person calls compatible with OpenAI or
// Anthropic, and uses that program's own format where the compatible one loses something: on its compatible
// formats an Ollama cuts prompts at its default context in silence; its own takes the context of each request.
//
// The one rule: nobody who answers at once is asked. Where the address itself names such a program, it is asked
// before the first request; anywhere else only when the first request has waited a while for its answer, which no
// model spares it, or was refused. It is asked once.
//
// Start at Provider.Stream.
//
// Known limits: a program behind a gateway that hides its own addresses stays unknown, and is used as configured;
// what package fit finds in the counts is all that protects it.
package behind

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"adze/session"
)

// Patience is how long a first request may stay without an answer before somebody looks what is there, and
// lookTime bounds the look.
const (
	Patience = 250 * time.Millisecond
	lookTime = time.Second
)

// Found is what a look has found.
type Found struct {
	// Native speaks the program's own format; nil: the given provider is as good.
	Native session.Provider
	// Limit tells how many tokens fit into a request to a model; nil: nobody knows.
	Limit func(ctx context.Context, model string) int
	// Notice tells the person of Native, with the first answer.
	Notice string
	// Advice explains a failure of the given provider by what was found; nil or nothing: it does not.
	Advice func(failed *session.ProviderError) string
}

// Options say how to look.
type Options struct {
	// Look finds out what is there. It is called once.
	Look func(ctx context.Context) Found
	// Named says that the address names a program which is worth asking before the first request.
	Named bool
	// Patience is as the person says, or a test; 0: the constant.
	Patience time.Duration
}

// Provider is the given provider, or what was found behind its address. It is safe for concurrent use.
type Provider struct {
	session.Provider
	options Options

	once  sync.Once
	done  chan struct{} // closed when found is set
	found Found

	mu    sync.Mutex
	spoke bool // the notice was given
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider that looks behind the address of another.
func Wrap(p session.Provider, o Options) *Provider {
	o.Patience = cmp.Or(o.Patience, Patience)
	return &Provider{Provider: p, options: o, done: make(chan struct{})}
}

// Warm opens the connection of the first request ahead, or looks ahead.
func (p *Provider) Warm(ctx context.Context) {
	if p.options.Named {
		go p.look(ctx)
		return
	}
	if w, ok := p.Provider.(interface{ Warm(context.Context) }); ok {
		w.Warm(ctx)
	}
}

// look finds out what is there, once, and waits for it.
func (p *Provider) look(ctx context.Context) Found {
	p.once.Do(func() {
		go func() {
			// The answer is for all requests: the end of this one does not end it.
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(lookTime, p.options.Patience))
			defer cancel()
			p.found = p.options.Look(ctx)
			close(p.done)
		}()
	})
	select {
	case <-p.done:
		return p.found
	case <-ctx.Done():
		return Found{}
	}
}

// Known is what was found so far; false: nobody has looked. At an address that names its program it looks.
func (p *Provider) Known(ctx context.Context) (Found, bool) {
	if p.options.Named {
		f := p.look(ctx)
		return f, ctx.Err() == nil
	}
	select {
	case <-p.done:
		return p.found, true
	default:
		return Found{}, false
	}
}

// Limit tells how many tokens fit into a request to a model, 0 when nobody knows; sure says that this was asked.
func (p *Provider) Limit(ctx context.Context, model string) (tokens int, sure bool) {
	f, known := p.Known(ctx)
	if !known || f.Limit == nil {
		return 0, known
	}
	n := f.Limit(ctx, model)
	return n, n > 0
}

// Stream asks the model by the best way that is known.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		f, known := p.Known(ctx)
		if !known && ctx.Err() == nil {
			a := attempt{provider: p, yield: yield}
			if !a.ask(ctx, r) {
				return
			}
			f, _ = p.Known(ctx)
		}
		if f.Native == nil {
			p.advised(f, p.Provider.Stream(ctx, r), yield)
			return
		}
		p.native(f, f.Native.Stream(ctx, r), yield)
	}
}

// native passes on what the program says in its own format, and tells of it once.
func (p *Provider) native(f Found, seq iter.Seq[session.Chunk], yield func(session.Chunk) bool) {
	for c := range seq {
		if done, ok := c.(session.Done); ok {
			c = p.noting(f, done)
		}
		if !yield(c) {
			return
		}
	}
}

func (p *Provider) noting(f Found, done session.Done) session.Done {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done.Err != nil || p.spoke || f.Notice == "" {
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

// advised passes on what the given provider says, and explains its failure.
func (p *Provider) advised(f Found, seq iter.Seq[session.Chunk], yield func(session.Chunk) bool) {
	for c := range seq {
		if done, ok := c.(session.Done); ok {
			c = explained(f, done)
		}
		if !yield(c) {
			return
		}
	}
}

func explained(f Found, done session.Done) session.Done {
	var failed *session.ProviderError
	if f.Advice == nil || !errors.As(done.Err, &failed) {
		return done
	}
	if advice := f.Advice(failed); advice != "" {
		told := *failed
		told.Hint = advice
		done.Err = &told
	}
	return done
}
