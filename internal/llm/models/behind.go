package models

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"adze/internal/config"
	"adze/internal/llm/discover"
	"adze/internal/llm/ollama"
	"adze/internal/llm/ollamaproxy"
	"adze/internal/llm/wire"
	"adze/session"
)

// lookTime bounds the look at an address: longer than any program takes that answers such
// questions, and short enough to wait for.
const lookTime = 2 * time.Second

// unnamed is what a session keeps of a server that is asked in the compatible format and is no
// known program.
const unnamed = "compatible"

// place is an address that is no company's own: any program may answer there, whatever it is
// called.
type place struct {
	server discover.Server
	config config.Provider
	key    string
	own    config.Model // what the user says of the model
	keeps  *wire.Findings

	model  string
	found  *larger
	behind *ollamaproxy.Provider
	kept   string // what a session kept of the server that it began with; if empty, nothing
	slow   bool

	servers *Servers
}

// Servers remembers what answers at addresses, for all models of a process. The zero value knows
// nothing.
type Servers struct {
	mu    sync.Mutex
	found map[string]discover.Found // by address
}

// recognise asks an address, unless it has answered before.
func (s *Servers) recognise(ctx context.Context, server discover.Server) discover.Found {
	s.mu.Lock()
	f, known := s.found[server.Base]
	s.mu.Unlock()
	if known {
		return f
	}
	f = server.Recognise(ctx)
	if f.Kind == discover.Any && (f.Slow || f.Unreached) {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found == nil {
		s.found = map[string]discover.Found{}
	}
	s.found[server.Base] = f
	return f
}

// beyond makes a model of a place: what answers there is found out before the first request, a
// prompt that does not fit is refused, and calls that were written as text are recovered.
func (f *Finder) beyond(at *place, m Model, given session.Provider) Model {
	at.model, at.found, at.own, at.keeps = m.Name, &larger{model: m.Name}, f.own(given.Name(), m.Name), f.findings
	at.server.Patience, at.servers = f.patience(lookTime), f.servers
	at.behind = ollamaproxy.Wrap(given, at.look)
	m.window = f.window(given.Name(), m.Name, func(ctx context.Context) told {
		tokens, sure := at.behind.Limit(ctx, m.Name)
		return told{tokens: tokens, sure: sure}
	})
	m.Provider = recovering(at.config, fitting(m, at.behind, at.found.how), true, f.toolless(given.Name(), at.server.Base, m.Name, at.behind.Toolless))
	m.place = at
	return m
}

// look finds out what answers at a place. A session that went on with a format keeps it.
func (at *place) look(ctx context.Context) ollamaproxy.Found {
	f := at.servers.recognise(ctx, at.server)
	if at.kept != "" {
		f.Kind, f.Slow, f.Unreached = discover.Kind(strings.TrimPrefix(at.kept, unnamed)), false, false
	}
	at.found.found(f.Kind)
	at.slow = f.Slow
	out := ollamaproxy.Found{Unreached: f.Unreached, Advice: func(failed *session.ProviderError) string { return f.Advice(at.model, failed) }}
	if m, ok := f.Of(at.model); ok && m.Limit() > 0 {
		out.Limit = func(context.Context, string) int { return m.Limit() }
	}
	if f.Kind != discover.Ollama {
		return out
	}
	p := ollama.New(at.native(f.Root))
	if at.kept == string(discover.Ollama) || p.Speaks(ctx, at.model) {
		out.Native, out.Limit, out.Toolless = p, p.Limit, p.Toolless
		out.Notice = fmt.Sprintf("%s answers at %s: it is asked in its own format, which says how large a context each request needs; "+
			"in the compatible one it would cut prompts at its default context", strings.TrimSpace(f.Program()), Endpoint{base: f.Root}.Shown())
	}
	return out
}

// Settled is the model with the profile of the server that answers for it, which is asked now where
// the address does not tell: the same server is spoken to in the same way at every address. Kept is
// what an earlier run of the session kept of the server. Notice is something to tell the user; if
// empty, there is nothing.
func (m Model) Settled(ctx context.Context, kept string) (settled Model, notice string) {
	at := m.place
	if at == nil {
		return m, ""
	}
	at.kept = kept
	found := at.behind.Known(ctx)
	m.place, m.Server = nil, unnamed
	kind := at.found.program()
	if kind != discover.Any && (kind != discover.Ollama || found.Native != nil) {
		m.Server = string(kind)
		m.Profile = profileOf(at.config, profileAt(kind))
	}
	switch {
	case found.Unreached:
		m.Server = "" // the next run may find more
	case at.slow:
		notice = fmt.Sprintf("%s did not say within %s which program answers there: it is asked in the compatible format, also when this session goes on",
			Endpoint{base: at.server.Base}.Shown(), at.server.Patience)
	}
	return m.speaking(), notice
}

// Presumed is the model as Settled makes it, by what an earlier run of the session kept alone:
// nobody is asked.
func (m Model) Presumed(kept string) Model {
	if kind := discover.Kind(strings.TrimPrefix(kept, unnamed)); m.place != nil && kind != discover.Any {
		m.Profile = profileOf(m.place.config, profileAt(kind))
	}
	return m
}

// Unasked is the address of a server that Settled would ask which program it is, where an earlier
// run of the session kept nothing of it; if empty, there is none.
func (m Model) Unasked(kept string) string {
	if m.place == nil || kept != "" {
		return ""
	}
	return Endpoint{base: m.place.server.Base}.Shown()
}

// profileAt is the profile of a program's models, whatever the provider is called.
func profileAt(kind discover.Kind) func() Profile {
	for _, row := range vendors() {
		if row.Tells == kind && row.Profile != nil {
			return row.Profile
		}
	}
	return Coder
}

// native are the options of an Ollama under the name that the user gave it.
func (at *place) native(root string) ollama.Options {
	return ollama.Options{
		Name: at.server.Name, BaseURL: root, Key: at.key, MaxContext: at.config.MaxContext, Effort: at.config.Effort,
		MaxTokens: at.own.Output, Vision: at.own.Vision, Findings: at.keeps,
		KeyHint: at.server.KeyHint, URLHint: at.server.URLHint,
	}
}
