package models

import (
	"context"

	"adze/internal/llm/local"
	"adze/internal/llm/ollama"
)

func (f *Finder) ollama(e Endpoint, name string) (Model, error) {
	p := ollama.New(f.options(e, name))
	m := Model{Name: name, Profile: profileOf(e.config, e.Profile)}
	m.window = f.window(e.Name, name, func(ctx context.Context) contextSize {
		limit := p.Limit(ctx, name)
		return contextSize{limit, limit > 0, p.RejectsImages(ctx, name)}
	})
	m.larger = func() string {
		if e.config.MaxContext > 0 {
			return "raise providers." + e.Name + ".max_context"
		}
		return LargerAt(local.Ollama, name)
	}
	return f.layered(m, e, p, p.Toolless, true).renamed(), nil
}

// Ollama returns the provider for an Ollama endpoint; it is of no use for any other.
func (e Endpoint) Ollama() (*ollama.Provider, bool) {
	return ollama.New(e.options()), e.ListsDetails == local.Ollama
}

// Native returns the provider for an Ollama found behind another format.
func (e Endpoint) Native(root string) *ollama.Provider {
	return ollama.New((&place{server: e.Server(), endpoint: Endpoint{Key: e.Key}}).native(root))
}

// Models queries a server's models; an Ollama in its own format, and a cloud at its own addresses.
func (e Endpoint) Models(ctx context.Context) ([]local.Model, error) {
	if p, ok := e.Ollama(); ok {
		return Installed(ctx, p)
	}
	if e.Cloud != "" {
		return e.listed(ctx)
	}
	return e.Server().Models(ctx)
}

// Installed queries an Ollama's models.
func Installed(ctx context.Context, p *ollama.Provider) (out []local.Model, err error) {
	told, err := p.Models(ctx)
	for _, m := range told {
		out = append(out, local.Model{
			Name: m.Name, Context: m.Context, Size: m.Size, Loaded: &m.Loaded, Running: m.Running, Tools: &m.Tools, Vision: &m.Vision, Thinking: &m.Thinking,
		})
	}
	return out, late(p.Name(), err)
}
