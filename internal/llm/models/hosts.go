package models

import (
	"context"
	"iter"

	"adze/internal/llm/local"
	"adze/internal/llm/textparse"
	"adze/internal/llm/wire"
	"adze/session"
)

// layered wraps an adapter in the decorators its server needs, in a fixed order: a request passes
// the last one first, an answer the first. If ownServer is set, the server may print calls as text.
func (f *Finder) layered(m Model, e Endpoint, adapter session.Provider, toolless func(context.Context, string) bool, ownServer bool) Model {
	tools := f.tools(e, m.Name, toolless)
	tools.Prints = ownServer
	tools.Recover = func(seq iter.Seq[session.Chunk], r session.Request) iter.Seq[session.Chunk] {
		return textparse.Recover(seq, r, wire.NewID)
	}
	m.Provider = local.Decorate(adapter,
		local.Limit(m.limits()), // refuses a prompt that the server would cut
		local.Describe(tools),   // describes tools in text, and finds calls in it
		e.suggesting(),          // names the server's models if one is unknown
	)
	return m
}

// renamed shows tools to the model under its profile's names.
func (m Model) renamed() Model {
	if len(m.Profile.Names) > 0 {
		m.Provider = local.Decorate(m.Provider, local.Rename(m.Profile.Names))
	}
	return m
}

func (f *Finder) hosted(e Endpoint, of string) (Model, error) {
	if e.Incomplete() {
		return Model{}, e.CheckUsable()
	}
	m := Model{Name: of, Profile: profileOf(e.config, e.Profile)}
	if e.Cloud != "" {
		return f.atCloud(e, m).renamed(), nil
	}
	format, err := e.formatFor(e.config)
	if err != nil {
		return Model{}, err
	}
	adapter := format.New(f.options(e, of))
	switch server := e.Server(); {
	case e.NeedsKey:
	case e.ListsDetails != local.Any:
		m.window = f.window(e.Name, of, asksFor(server, of))
		m.larger = func() string { return LargerAt(server.Kind, of) }
	case format.Shared:
		return f.beyond(&place{server: server, endpoint: e}, m, adapter), nil // Settled decides the format
	}
	return f.layered(m, e, adapter, nil, !e.NeedsKey).renamed(), nil
}

// atCloud makes a cloud's model. Its name is sent unchanged: an id, a profile, an ARN or a
// deployment.
func (f *Finder) atCloud(e Endpoint, m Model) Model {
	format, base, door := e.access(m.Name)
	if e.door != nil {
		door.Sign, door.Renew, door.Secret = e.door.Sign, e.door.Renew, e.door.Secret
	}
	o := f.options(e, m.Name)
	o.BaseURL, o.Key, o.Door = base, "", joined(door, e.query)
	o.KeyHint = "check " + e.signedBy + ", and whether it may use " + m.Name + " there"
	if door.Read != nil {
		o.Header = wire.WithHeader(o.Header, "Accept", "application/vnd.amazon.eventstream")
	}
	return f.layered(m, e, format.New(o), nil, false)
}

// suggesting names a server's models in the error about an unknown one.
func (e Endpoint) suggesting() local.Decorator {
	if e.Cloud != "" {
		return nil // a cloud's list is at another address, and names what an account may not use
	}
	return local.Suggest(func(ctx context.Context) ([]string, error) {
		models, err := e.Server().Models(ctx)
		var out []string
		for _, m := range models {
			out = append(out, m.Name)
		}
		return out, err
	})
}
