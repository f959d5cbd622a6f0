package models

import (
	"context"
	"time"

	"adze/internal/llm/local"
	"adze/internal/llm/ollama"
)

// ollamaPatience is how long a start without any configured model waits for an Ollama that may not
// run.
const ollamaPatience = time.Second

// ollama makes a model of an Ollama.
func (f *Finder) ollama(e Endpoint, name string) (Model, error) {
	return f.ollamaOf(e, ollama.New(f.options(e, name)), name), nil
}

func (f *Finder) ollamaOf(e Endpoint, p *ollama.Provider, name string) Model {
	m := Model{Name: name, Profile: profileOf(e.config, e.Profile)}
	m.window = f.window(e.Name, name, func(ctx context.Context) contextSize {
		limit := p.Limit(ctx, name)
		return contextSize{limit, limit > 0, p.Blind(ctx, name)}
	})
	m.larger = func() string {
		if e.config.MaxContext > 0 {
			return "raise providers." + e.Name + ".max_context"
		}
		return LargerAt(local.Ollama, name)
	}
	return f.layered(m, e, p, p.Toolless, true).renamed()
}

// Ollama is the Ollama at an endpoint; if false, it is no Ollama.
func (e Endpoint) Ollama() (*ollama.Provider, bool) {
	if e.Tells != local.Ollama {
		return nil, false
	}
	return ollama.New(e.options()), true
}

// Native is the Ollama that was found at an endpoint of another format.
func (e Endpoint) Native(root string) *ollama.Provider {
	return ollama.New((&place{server: e.Server(), endpoint: Endpoint{Key: e.Key}}).native(root))
}

// Installed asks an Ollama for its models, and does not wait long for the answer.
func Installed(ctx context.Context, p *ollama.Provider) ([]ollama.Model, error) {
	return installed(ctx, p, ollamaPatience)
}

func installed(ctx context.Context, p *ollama.Provider, patience time.Duration) ([]ollama.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	models, err := p.Models(ctx)
	return models, late(p.Name(), err)
}
