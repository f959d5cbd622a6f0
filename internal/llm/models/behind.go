package models

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"adze/internal/config"
	"adze/internal/llm/local"
	"adze/internal/llm/ollama"
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
	server   local.Server
	endpoint Endpoint
	own      config.Model // what the user says of the model
	findings *wire.Findings
	router   *local.Router
	model    string
	kept     string // what a session kept of the server that it began with; if empty, nothing
	servers  *Servers
}

// Servers remembers what answers at addresses, for all models of a process. The zero value knows
// nothing.
type Servers struct {
	mu    sync.Mutex
	found map[string]local.Found // by address
}

// recognise asks an address, unless it has answered before.
func (s *Servers) recognise(ctx context.Context, server local.Server, findings *wire.Findings) local.Found {
	s.mu.Lock()
	f, known := s.found[server.Base]
	s.mu.Unlock()
	if known {
		return f
	}
	f = server.Recall(ctx, findings)
	if f.Kind == local.Any && (f.Slow || f.Unreached) {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found == nil {
		s.found = map[string]local.Found{}
	}
	s.found[server.Base] = f
	return f
}

// beyond makes a model of a place: what answers there is found out before the first request.
func (f *Finder) beyond(at *place, m Model, given session.Provider) Model {
	at.model, at.own, at.findings, at.servers = m.Name, f.own(given.Name(), m.Name), f.findings, f.servers
	at.server.Patience = f.patience(lookTime)
	at.router = local.NewRouter(given, at.look)
	m.window = f.window(given.Name(), m.Name, func(ctx context.Context) contextSize {
		tokens, sure := at.router.Limit(ctx, m.Name)
		return contextSize{tokens: tokens, sure: sure}
	})
	m.larger = func() string { return LargerAt(at.router.Known(context.Background()).Kind, m.Name) }
	m.place = at
	return f.layered(m, at.endpoint, at.router, at.router.Toolless, true)
}

// look finds out what answers at a place. A session that went on with a format keeps it.
func (at *place) look(ctx context.Context) local.Route {
	f := at.servers.recognise(ctx, at.server, at.findings)
	if at.kept != "" {
		f.Kind, f.Slow, f.Unreached = local.Kind(strings.TrimPrefix(at.kept, unnamed)), false, false
	}
	out := local.Route{Kind: f.Kind, Slow: f.Slow, Unreached: f.Unreached, Advice: func(failed *session.ProviderError) string { return f.Advice(at.model, failed) }}
	if m, ok := f.Of(at.model); ok && m.Limit() > 0 {
		out.Limit = func(context.Context, string) int { return m.Limit() }
	}
	if f.Kind != local.Ollama {
		return out
	}
	p := ollama.New(at.native(f.Root))
	if at.kept == string(local.Ollama) || p.Speaks(ctx, at.model) {
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
	found := at.router.Known(ctx)
	m.place, m.Server = nil, unnamed
	if found.Kind != local.Any && (found.Kind != local.Ollama || found.Native != nil) {
		m.Server = string(found.Kind)
		m.Profile = profileOf(at.endpoint.config, profileAt(found.Kind))
	}
	switch {
	case found.Unreached:
		m.Server = "" // the next run may find more
	case found.Slow:
		notice = fmt.Sprintf("%s did not say within %s which program answers there: it is asked in the compatible format, also when this session goes on",
			Endpoint{base: at.server.Base}.Shown(), at.server.Patience)
	}
	return m.renamed(), notice
}

// Presumed is the model as Settled makes it, by what an earlier run of the session kept alone:
// nobody is asked.
func (m Model) Presumed(kept string) Model {
	if kind := local.Kind(strings.TrimPrefix(kept, unnamed)); m.place != nil && kind != local.Any {
		m.Profile = profileOf(m.place.endpoint.config, profileAt(kind))
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
func profileAt(kind local.Kind) func() Profile {
	if v, ok := vendorOf(kind); ok && v.Profile != nil {
		return v.Profile
	}
	return Coder
}

// LargerAt is how a program is given a larger context.
func LargerAt(kind local.Kind, model string) string {
	if v, ok := vendorOf(kind); ok {
		return strings.ReplaceAll(v.ContextHint, "NAME", model)
	}
	return "give the server a larger context"
}

// vendorOf is the row of a program.
func vendorOf(kind local.Kind) (Vendor, bool) {
	for _, v := range vendors() {
		if kind != local.Any && v.Tells == kind {
			return v, true
		}
	}
	return Vendor{}, false
}

// native are the options of an Ollama under the name that the user gave it.
func (at *place) native(root string) ollama.Options {
	c := at.endpoint.config
	return ollama.Options{
		Name: at.server.Name, BaseURL: root, Key: at.endpoint.Key, MaxContext: c.MaxContext, Effort: c.Effort,
		MaxTokens: at.own.Output, Vision: at.own.Vision, Findings: at.findings,
		KeyHint: at.server.KeyHint, URLHint: at.server.URLHint,
	}
}
