package models

import (
	"context"
	"iter"

	"adze/internal/config"
	"adze/internal/llm/discover"
	"adze/internal/llm/fallback"
	"adze/internal/llm/textparse"
	"adze/internal/llm/toolsastext"
	"adze/internal/llm/wire"
	"adze/session"
)

// hosted makes a model of a server.
func (f *Finder) hosted(e Endpoint, of string) (Model, error) {
	if e.Missing() {
		return Model{}, e.Lacking()
	}
	format, err := e.formatFor(e.config)
	if err != nil {
		return Model{}, err
	}
	provider := format.New(f.options(e, of))
	toolless := f.toolless(e.Name, e.base, of, nil)
	m := Model{Name: of, Profile: profileOf(e.config, e.Profile)}
	if !e.NeedsKey {
		m.own = e.Host() + " " + of
	}
	switch server := e.Server(); {
	case e.NeedsKey:
		m.Provider = recovering(e.config, provider, false, toolless)
	case e.Tells != discover.Any:
		m.window = f.window(e.Name, of, asksFor(server, of))
		m.Provider = recovering(e.config, fitting(m, provider, func() string { return LargerAt(server.Kind, of) }), true, toolless)
	case !format.Shared:
		m.Provider = recovering(e.config, provider, true, toolless)
	default:
		m = f.beyond(&place{server: server, config: e.config, key: e.Key}, m, provider)
		m.Provider = e.telling(m.Provider)
		return m, nil // Settled says how it is spoken to
	}
	m.Provider = e.telling(m.Provider)
	return m.speaking(), nil
}

// telling names the models of a server in the error about one that it does not have.
func (e Endpoint) telling(p session.Provider) session.Provider {
	return fallback.Wrap(p, func(ctx context.Context) ([]string, error) {
		models, err := e.Server().Models(ctx)
		var out []string
		for _, m := range models {
			out = append(out, m.Name)
		}
		return out, err
	})
}

// recovering recovers calls that models write as text, unless the configuration says otherwise, and
// gives tools as text to a model whose server refuses them.
func recovering(p config.Provider, provider session.Provider, local bool, o toolsastext.Options) session.Provider {
	plain := p.TextCalls != nil && !*p.TextCalls
	if plain || !local && p.TextCalls == nil {
		o.Plain, o.Recover = plain, func(seq iter.Seq[session.Chunk], r session.Request) iter.Seq[session.Chunk] {
			return textparse.Recover(seq, r, wire.NewID)
		}
		return toolsastext.Wrap(provider, o)
	}
	return textparse.Wrap(toolsastext.Wrap(provider, o), nil)
}
