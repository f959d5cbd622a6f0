package models

import (
	"cmp"
	"context"
	"sync"
	"time"

	"adze/internal/llm/local"
)

// How long the first request may wait for a server to report its context.
const windowPatience = time.Second

type sizeQuery func(context.Context) contextSize

// contextSize is a model's context in tokens, or 0 if unknown. sure: it holds while the model runs.
// blind: the model takes no images.
type contextSize struct {
	tokens      int
	sure, blind bool
}

// window is one model's context size: configured, else from the table, else from the server. It is
// safe for concurrent use.
type window struct {
	known func() int // without a query
	asks  sizeQuery  // nil if the server does not report it
	most  int        // configured limit; 0 for none
	waits time.Duration

	mu       sync.Mutex
	reported contextSize
	seen     int // revealed by a cut prompt; 0 if none
}

func (f *Finder) window(provider, name string, asks sizeQuery) *window {
	return &window{asks: asks, waits: f.patience(windowPatience), most: f.config.Providers[provider].MaxContext, known: sync.OnceValue(func() int {
		row, _ := f.row(provider, name)
		return row.Context
	})}
}

// ask returns the context in tokens, or 0 if unknown. It queries the server until the model runs.
func (w *window) ask(ctx context.Context) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known() == 0 {
		w.inquire(ctx)
	}
	return w.capped(w.reported.tokens)
}

func (w *window) inquire(ctx context.Context) {
	if w.asks == nil || w.reported.sure {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(w.waits, windowPatience))
	defer cancel()
	w.reported = w.asks(ctx)
}

// blind reports whether the server says that the model takes no images.
func (w *window) blind(ctx context.Context) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inquire(ctx)
	return w.reported.blind
}

// peek returns the context without a query: 0 until the first request to a server that must be
// queried.
func (w *window) peek() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.reported.sure {
		return w.capped(0)
	}
	return w.capped(w.reported.tokens)
}

// learn stores the context revealed by a cut prompt, which overrides other sources.
func (w *window) learn(tokens int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = tokens
}

func (w *window) capped(told int) int {
	n := cmp.Or(w.known(), told)
	if w.seen > 0 && (n == 0 || w.seen < n) {
		n = w.seen
	}
	if w.most > 0 && (n == 0 || w.most < n) {
		return w.most
	}
	return n
}

// Windows returns a function for context sizes that makes no queries.
func (f *Finder) Windows(m Model) func(provider, model string) int {
	return func(provider, name string) int {
		if m.window != nil && provider == m.Provider.Name() && name == m.Name {
			return m.window.peek()
		}
		return f.window(provider, name, nil).peek()
	}
}

// limits returns the limits for a server that may cut prompts silently, or the zero value if the
// context is unknown.
func (m Model) limits() local.Limits {
	if m.window == nil {
		return local.Limits{}
	}
	return local.Limits{
		Hint: m.larger,
		Limit: func(ctx context.Context, name string) int {
			if name != m.Name {
				return 0
			}
			return m.window.ask(ctx)
		},
		Learned: func(name string, tokens int) {
			if name == m.Name {
				m.window.learn(tokens)
			}
		},
	}
}

// asksFor returns a query for a model's context, or nil for servers that do not report it. A model
// that is not loaded has its trained context, the most it can get.
func asksFor(s local.Server, name string) sizeQuery {
	if s.Kind == local.Any {
		return nil
	}
	return func(ctx context.Context) contextSize {
		models, err := s.Models(ctx)
		if err != nil {
			return contextSize{}
		}
		for _, m := range models {
			if m.Name == name || len(models) == 1 && s.Kind == local.LlamaCPP { // it accepts any name
				return contextSize{m.Limit(), m.Context > 0, m.Vision != nil && !*m.Vision}
			}
		}
		return contextSize{sure: true}
	}
}
