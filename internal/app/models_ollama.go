package app

import (
	"context"
	"time"

	"adze/internal/config"
	"adze/internal/llm/discover"
	"adze/internal/llm/ollama"
)

// ollamaPatience is how long a start without any configured model waits for an Ollama that may not run.
const ollamaPatience = time.Second

// foundOllama is the origin of a model that nobody named.
const foundOllama = "running Ollama"

func (a *app) ollamaOptions(cfg config.Config) ollama.Options {
	o, set := ollama.FromEnv(a.getenv)
	p := cfg.Providers["ollama"]
	if !set && p.BaseURL != "" {
		o.BaseURL = p.BaseURL
	}
	if p.Effort != "" {
		think := p.Effort != "none"
		o.Think = &think
	}
	o.MaxContext, o.KeepAlive = p.MaxContext, p.KeepAlive
	return o
}

// ollama makes a model of an Ollama.
func (a *app) ollama(cfg config.Config, p *ollama.Provider, name string) model {
	m := model{name: name, profile: profileOf(cfg.Providers["ollama"], localProfile)}
	m.window = a.window(cfg, "ollama", name, func(ctx context.Context) (int, bool) {
		limit := p.Limit(ctx, name)
		return limit, limit > 0
	})
	hint := func() string {
		if cfg.Providers["ollama"].MaxContext > 0 {
			return "raise providers.ollama.max_context"
		}
		return largerAt(discover.Ollama, name)
	}
	m.provider = recovering(cfg.Providers["ollama"], fitting(m, p, hint), true)
	return m
}
