package models

import (
	"context"
	"iter"

	"adze/internal/llm/local"
	"adze/internal/llm/textparse"
	"adze/internal/llm/wire"
	"adze/session"
)

// layers are what a model's adapter is wrapped in. Nil is none.
type layers struct {
	adapter                session.Provider
	limits                 *local.Limits
	tools                  local.Tools
	texts, suggest, rename local.Decorator
}

// provider is the adapter in its layers, in the one order that there is: a request passes the last
// first, an answer the first.
func (l layers) provider() session.Provider {
	var limit local.Decorator
	if l.limits != nil {
		limit = local.Limit(*l.limits)
	}
	return local.Decorate(l.adapter,
		limit,                   // refuses a prompt that the server would cut
		local.Describe(l.tools), // describes tools to a model that takes none
		l.texts,                 // finds calls that the model wrote as text
		l.suggest,               // names the server's models when one is not known
		l.rename,                // shows tools under the names that the model knows
	)
}

// layered is the model with an adapter in the layers that its server needs. A server of one's own
// may print calls as text.
func (f *Finder) layered(m Model, e Endpoint, adapter session.Provider, toolless func(context.Context, string) bool, ownServer bool) Model {
	m.layers = layers{adapter: adapter, limits: m.limits(), tools: f.tools(e, m.Name, toolless), suggest: e.suggesting()}
	if ownServer {
		m.layers.texts = func(p session.Provider) session.Provider { return textparse.Wrap(p, nil) }
	} else {
		m.layers.tools.Recover = func(seq iter.Seq[session.Chunk], r session.Request) iter.Seq[session.Chunk] {
			return textparse.Recover(seq, r, wire.NewID)
		}
	}
	m.Provider = m.layers.provider()
	return m
}

// renamed shows tools to the model under the names that its profile has.
func (m Model) renamed() Model {
	if len(m.Profile.Names.Tools) > 0 && m.layers.adapter != nil {
		m.layers.rename = local.Rename(m.Profile.Names)
		m.Provider = m.layers.provider()
	}
	return m
}

// hosted makes a model of a server.
func (f *Finder) hosted(e Endpoint, of string) (Model, error) {
	if e.Missing() {
		return Model{}, e.Lacking()
	}
	format, err := e.formatFor(e.config)
	if err != nil {
		return Model{}, err
	}
	adapter := format.New(f.options(e, of))
	m := Model{Name: of, Profile: profileOf(e.config, e.Profile)}
	switch server := e.Server(); {
	case e.NeedsKey:
	case e.Tells != local.Any:
		m.window = f.window(e.Name, of, asksFor(server, of))
		m.larger = func() string { return LargerAt(server.Kind, of) }
	case format.Shared:
		return f.beyond(&place{server: server, endpoint: e}, m, adapter), nil // Settled says how it is asked
	}
	return f.layered(m, e, adapter, nil, !e.NeedsKey).renamed(), nil
}

// suggesting names the models of a server in the error about one that it does not have.
func (e Endpoint) suggesting() local.Decorator {
	return local.Suggest(func(ctx context.Context) ([]string, error) {
		models, err := e.Server().Models(ctx)
		var out []string
		for _, m := range models {
			out = append(out, m.Name)
		}
		return out, err
	})
}
