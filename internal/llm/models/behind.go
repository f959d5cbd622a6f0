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

// lookTime limits the query of an address: longer than any known program takes, and short enough to
// wait for.
const lookTime = 2 * time.Second

// unnamed is stored in a session for a server in the compatible format that is no known program.
const unnamed = "compatible"

// place is an address that is not a company's own, so any program may answer there.
type place struct {
	server   local.Server
	endpoint Endpoint
	own      config.Model // the user's settings
	findings *wire.Findings
	router   *local.Router
	model    string
	kept     string // what the session stored about its first server; may be empty
	servers  *Servers
}

// Servers caches the programs found at addresses, for all models of a process. The zero value is
// empty.
type Servers struct {
	mu    sync.Mutex
	found map[string]local.ServerInfo // by address
	made  map[string]any              // credentials and clients of clouds and gateways
}

// recognise queries an address once.
func (s *Servers) recognise(ctx context.Context, server local.Server, findings *wire.Findings) local.ServerInfo {
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
		s.found = map[string]local.ServerInfo{}
	}
	s.found[server.Base] = f
	return f
}

// beyond makes a model at a place; the place is queried before the first request.
func (f *Finder) beyond(at *place, m Model, given session.Provider) Model {
	at.model, at.own, at.findings, at.servers = m.Name, f.own(given.Name(), m.Name), f.findings, f.servers
	at.server.Patience = f.patience(lookTime)
	at.router = local.NewRouter(given, at.look)
	m.window = f.window(given.Name(), m.Name, func(ctx context.Context) contextSize {
		tokens, sure := at.router.Limit(ctx, m.Name)
		return contextSize{tokens: tokens, sure: sure}
	})
	m.larger = func() string { return LargerAt(at.router.Route(context.Background()).Kind, m.Name) }
	m.place = at
	return f.layered(m, at.endpoint, at.router, at.router.Toolless, true)
}

// look queries a place. A resumed session keeps its format.
func (at *place) look(ctx context.Context) local.Route {
	f := at.servers.recognise(ctx, at.server, at.findings)
	if at.kept != "" {
		f.Kind, f.Slow, f.Unreached = local.Kind(strings.TrimPrefix(at.kept, unnamed)), false, false
	}
	out := local.Route{Kind: f.Kind, Slow: f.Slow, Unreached: f.Unreached, Advice: func(failed *session.ProviderError) string { return f.Advice(at.model, failed) }}
	if m, ok := f.FindModel(at.model); ok && m.Limit() > 0 {
		out.Limit = func(context.Context, string) int { return m.Limit() }
	}
	if f.Kind != local.Ollama {
		return out
	}
	p := ollama.New(at.native(f.Root))
	if at.kept == string(local.Ollama) || p.Speaks(ctx, at.model) {
		out.Native, out.Limit, out.Toolless = p, p.Limit, p.Toolless
		out.Notice = fmt.Sprintf("%s answers at %s: it is asked in its own format, which says how large a context each request needs; "+
			"in the compatible one it would cut prompts at its default context", strings.TrimSpace(f.Program()), Endpoint{base: f.Root}.DisplayURL())
	}
	return out
}

// WithServerProfile returns the model with its server's profile. It queries the server if the
// address does not identify it: a server is spoken to in the same way at every address. kept is the
// server's description from an earlier run in the session. notice is for the user and may be empty.
func (m Model) WithServerProfile(ctx context.Context, kept string) (settled Model, notice string) {
	at := m.place
	if at == nil {
		return m, ""
	}
	at.kept = kept
	found := at.router.Route(ctx)
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
			Endpoint{base: at.server.Base}.DisplayURL(), at.server.Patience)
	}
	return m.renamed(), notice
}

// Presumed is WithServerProfile by kept alone, without a query.
func (m Model) Presumed(kept string) Model {
	if kind := local.Kind(strings.TrimPrefix(kept, unnamed)); m.place != nil && kind != local.Any {
		m.Profile = profileOf(m.place.endpoint.config, profileAt(kind))
	}
	return m
}

// Unasked returns the address that WithServerProfile would query, or "" if kept already answers.
func (m Model) Unasked(kept string) string {
	if m.place == nil || kept != "" {
		return ""
	}
	return Endpoint{base: m.place.server.Base}.DisplayURL()
}

// profileAt returns the profile for a program, whatever the provider's name.
func profileAt(kind local.Kind) func() Profile {
	if v, ok := vendorOf(kind); ok && v.Profile != nil {
		return v.Profile
	}
	return Coder
}

// LargerAt describes how to give a program a larger context.
func LargerAt(kind local.Kind, model string) string {
	if v, ok := vendorOf(kind); ok {
		return strings.ReplaceAll(v.ContextHint, "NAME", model)
	}
	return "give the server a larger context"
}

func vendorOf(kind local.Kind) (Vendor, bool) {
	for _, v := range vendors() {
		if kind != local.Any && v.ListsDetails == kind {
			return v, true
		}
	}
	return Vendor{}, false
}

// native returns options for an Ollama under the user's name for it.
func (at *place) native(root string) ollama.Options {
	c := at.endpoint.config
	return ollama.Options{
		Header: at.endpoint.header, HTTP: at.endpoint.http, Door: joined(at.endpoint.door, at.endpoint.query),
		Name: at.server.Name, BaseURL: root, Key: at.endpoint.Key, MaxContext: c.MaxContext, Effort: c.Effort,
		MaxTokens: at.own.Output, Vision: at.own.Vision, Findings: at.findings,
		KeyHint: at.server.KeyHint, URLHint: at.server.URLHint,
	}
}
