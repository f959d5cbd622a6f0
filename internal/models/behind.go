package models

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"adze/internal/config"
	"adze/internal/llm/behind"
	"adze/internal/llm/discover"
	"adze/internal/llm/ollama"
	"adze/session"
)

// place is an address that is no company's own: any program may answer there, whatever it is called.
type place struct {
	server discover.Server
	config config.Provider
	key    string
	hint   string // how a larger context is had there; nothing: by what is found
}

// beyond makes a model of a place: what answers there is found out, a prompt that does not fit is refused, and calls
// that were written as text are recovered.
func (f *Finder) beyond(at place, m Model, given session.Provider) Model {
	found := &larger{hint: at.hint, model: m.Name}
	b := behind.Wrap(given, behind.Options{Named: tellsItself(at.server.Base), Look: at.look(m.Name, found), Patience: f.patience(behind.Patience)})
	m.window = f.window(given.Name(), m.Name, func(ctx context.Context) told {
		tokens, sure := b.Limit(ctx, m.Name)
		return told{tokens: tokens, sure: sure}
	})
	m.Provider = recovering(at.config, fitting(m, b, found.how), true)
	return m
}

// tellsItself reports an address that names the program which answers there, by its name or by a port that nobody else
// uses. It is asked what it runs before the first request.
func tellsItself(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	text := strings.ToLower(u.Hostname() + u.Path)
	return slices.ContainsFunc(vendors(), func(v Vendor) bool {
		home, err := url.Parse(v.Home)
		return err == nil && v.OwnPort && (u.Port() == home.Port() || strings.Contains(text, v.Name))
	})
}

// look finds out what answers at a place.
func (at place) look(model string, hint *larger) func(context.Context) behind.Found {
	return func(ctx context.Context) behind.Found {
		f := at.server.Recognise(ctx)
		hint.found(f.Kind)
		out := behind.Found{Advice: func(failed *session.ProviderError) string { return f.Advice(model, failed) }}
		if m, ok := f.Of(model); ok && m.Limit() > 0 {
			out.Limit = func(context.Context, string) int { return m.Limit() }
		}
		if f.Kind != discover.Ollama {
			return out
		}
		p := ollama.New(at.native(f.Root))
		if p.Speaks(ctx, model) {
			out.Native, out.Limit = p, p.Limit
			out.Notice = fmt.Sprintf("%s answers at %s: it is asked in its own format, which says how large a context each request needs; "+
				"in the compatible one it would cut prompts at its default context", f.Program(), Endpoint{base: f.Root}.Shown())
		}
		return out
	}
}

// native are the options of an Ollama under the name that the person gave it.
func (at place) native(root string) ollama.Options {
	return ollama.Options{
		Name: at.server.Name, BaseURL: root, Key: at.key, MaxContext: at.config.MaxContext, KeepAlive: at.config.KeepAlive, Effort: at.config.Effort,
		KeyHint: at.server.KeyHint, URLHint: at.server.URLHint,
	}
}
