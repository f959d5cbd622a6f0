package models

import (
	"context"
	"time"

	"adze/internal/llm/discover"
	"adze/internal/llm/ollama"
)

// ollamaPatience is how long a start without any configured model waits for an Ollama that may not run.
const ollamaPatience = time.Second

// foundOllama is the origin of a model that nobody named.
const foundOllama = "running Ollama"

func (f *Finder) ollamaOptions() ollama.Options {
	o, set := ollama.FromEnv(f.getenv)
	p := f.config.Providers["ollama"]
	if !set && p.BaseURL != "" {
		o.BaseURL = p.BaseURL
	}
	o.MaxContext, o.KeepAlive, o.Effort = p.MaxContext, p.KeepAlive, p.Effort
	return o
}

// ollama makes a model of an Ollama.
func (f *Finder) ollama(p *ollama.Provider, name string) Model {
	m := Model{Name: name, Profile: profileOf(f.config.Providers["ollama"], Local)}
	m.window = f.window("ollama", name, func(ctx context.Context) (int, bool) {
		limit := p.Limit(ctx, name)
		return limit, limit > 0
	})
	hint := func() string {
		if f.config.Providers["ollama"].MaxContext > 0 {
			return "raise providers.ollama.max_context"
		}
		return LargerAt(discover.Ollama, name)
	}
	m.Provider = recovering(f.config.Providers["ollama"], fitting(m, p, hint), true)
	return m
}
