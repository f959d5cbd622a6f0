package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"adze/internal/config"
	"adze/internal/llm/discover"
	"adze/internal/llm/ollama"
)

// startPatience is how long a start without any configured model looks for servers on this machine.
const startPatience = time.Second

// running chooses a model of a server that runs: of Ollama, llama.cpp, LM Studio or vLLM, in this order. All are
// asked together; nobody is when a model is configured.
func (a *app) running(ctx context.Context, cfg config.Config) (model, bool) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	looks := []func() (model, bool){func() (model, bool) { return a.runningOllama(ctx, cfg) }}
	for _, h := range hosts() {
		if _, tells := tells(h.name); tells {
			looks = append(looks, func() (model, bool) { return a.runningHost(ctx, cfg, h.name) })
		}
	}
	type found struct {
		model model
		ok    bool
	}
	answers := make([]chan found, len(looks))
	for i, look := range looks {
		answers[i] = make(chan found, 1)
		go func() {
			m, ok := look()
			answers[i] <- found{m, ok}
		}()
	}
	for _, answer := range answers {
		if f := <-answer; f.ok {
			return f.model, true
		}
	}
	return model{}, false
}

// runningOllama chooses one that can call tools, best one that is loaded.
func (a *app) runningOllama(ctx context.Context, cfg config.Config) (model, bool) {
	p := ollama.New(a.ollamaOptions(cfg))
	models, err := p.Models(ctx)
	best, ok := ollama.Pick(models)
	if err != nil || !ok {
		return model{}, false // the caller says what the ways to a model are
	}
	m := a.ollama(cfg, p, best.Name)
	m.origin = foundOllama
	return m, true
}

// runningHost chooses a model of one of the servers that tell what theirs can do.
func (a *app) runningHost(ctx context.Context, cfg config.Config, name string) (model, bool) {
	h, err := a.host(cfg, name)
	if err != nil {
		return model{}, false
	}
	keyEnv := cmp.Or(cfg.Providers[name].KeyEnv, h.keyEnv)
	models, err := h.discovery(a.key(cfg.Providers[name], strings.TrimSpace(a.getenv(h.keyEnv))), keyEnv).Models(ctx)
	best, ok := pickLocal(models)
	if err != nil || !ok {
		return model{}, false
	}
	m, err := a.hosted(cfg, name, best.Name)
	m.origin = "running " + programOf(name)
	return m, err == nil
}

// pickLocal chooses a model that can call tools: one that is loaded first. Of vLLM, which never tells whether it
// can, its first one is taken; another program on one of these ports is never taken.
func pickLocal(models []discover.Model) (discover.Model, bool) {
	best := -1
	for i, m := range models {
		can := m.Tools != nil && *m.Tools || m.Tools == nil && m.Owner == "vllm"
		if can && (best < 0 || isLoaded(m) && !isLoaded(models[best])) {
			best = i
		}
	}
	if best < 0 {
		return discover.Model{}, false
	}
	return models[best], true
}

func isLoaded(m discover.Model) bool { return m.Loaded != nil && *m.Loaded }

// programOf is how a kind of server is called.
func programOf(name string) string {
	switch name {
	case "ollama":
		return "Ollama"
	case "llamacpp":
		return "llama.cpp"
	case "lmstudio":
		return "LM Studio"
	case "vllm":
		return "vLLM"
	}
	return name
}
