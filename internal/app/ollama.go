package app

import (
	"context"
	"time"

	"adze/internal/config"
	"adze/internal/llm/ollama"
	"adze/session"
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
	return o
}

func (a *app) ollama(cfg config.Config) session.Provider {
	return recovering(cfg.Providers["ollama"], ollama.New(a.ollamaOptions(cfg)), true)
}

// runningOllama chooses a model of a running server: one that can call tools, best one that is loaded.
func (a *app) runningOllama(ctx context.Context, cfg config.Config) (model, bool) {
	ctx, cancel := context.WithTimeout(ctx, ollamaPatience)
	defer cancel()
	p := ollama.New(a.ollamaOptions(cfg))
	models, err := p.Models(ctx)
	if err != nil {
		return model{}, false // none is running; the caller says what the ways to a model are
	}
	best, ok := ollama.Pick(models)
	return model{provider: recovering(cfg.Providers["ollama"], p, true), name: best.Name, origin: foundOllama, profile: localProfile()}, ok
}
