package models

import (
	"cmp"
	"context"
	"sync"
	"time"

	"adze/internal/llm/local"
)

// windowPatience is how long the first question may wait for a server to tell its context.
const windowPatience = time.Second

// sizeQuery asks a server about one model.
type sizeQuery func(context.Context) contextSize

// contextSize is the context of a model in tokens, 0 when its server does not tell; sure says that
// this holds while the model runs, and blind that it takes no pictures.
type contextSize struct {
	tokens      int
	sure, blind bool
}

// window is the context of one model: what the user wrote down, else the table, else what the
// model's own server tells, where it runs one that does. It is safe for concurrent use.
type window struct {
	known func() int // without asking
	asks  sizeQuery  // if nil, the server does not tell
	most  int        // of the configuration; if 0, any
	waits time.Duration

	mu   sync.Mutex
	told contextSize
	seen int // the context that a cut prompt gave away; if 0, none was
}

func (f *Finder) window(provider, name string, asks sizeQuery) *window {
	return &window{asks: asks, waits: f.patience(windowPatience), most: f.config.Providers[provider].MaxContext, known: sync.OnceValue(func() int {
		row, _ := f.row(provider, name)
		return row.Context
	})}
}

// ask tells the context in tokens, 0 when nobody knows. The server is asked until it told of a
// running model.
func (w *window) ask(ctx context.Context) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known() == 0 {
		w.inquire(ctx)
	}
	return w.capped(w.told.tokens)
}

func (w *window) inquire(ctx context.Context) {
	if w.asks == nil || w.told.sure {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(w.waits, windowPatience))
	defer cancel()
	w.told = w.asks(ctx)
}

// blind reports a model whose server says that it takes no pictures.
func (w *window) blind(ctx context.Context) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inquire(ctx)
	return w.told.blind
}

// peek tells it without asking anybody: 0 until a request was made to a server that has to be
// asked.
func (w *window) peek() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.told.sure {
		return w.capped(0)
	}
	return w.capped(w.told.tokens)
}

// learn takes the context that a cut prompt gave away, whatever anybody tells.
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

// Windows tells a session the contexts of its models; nobody is asked for it.
func (f *Finder) Windows(m Model) func(provider, model string) int {
	return func(provider, name string) int {
		if m.window != nil && provider == m.Provider.Name() && name == m.Name {
			return m.window.peek()
		}
		return f.window(provider, name, nil).peek()
	}
}

// limits are the context of a model whose server may cut a prompt silently; if zero, nobody
// knows it.
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

// asksFor makes the question of what context a model has on a server that tells it; nil on any
// other. A model that is not loaded has the context that it was trained for, which is the most it
// can get.
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
			if m.Name == name || len(models) == 1 && s.Kind == local.LlamaCPP { // which takes any name
				return contextSize{m.Limit(), m.Context > 0, m.Vision != nil && !*m.Vision}
			}
		}
		return contextSize{sure: true}
	}
}
