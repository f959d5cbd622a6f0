// Package openai speaks the Chat Completions format, streaming: api.openai.com and every compatible
// server by base URL (llama.cpp, vLLM, LM Studio, OpenRouter, Groq, ...).
//
// The one rule: an answer is complete with a finish_reason or [DONE], and nothing else; calls are released
// only then, and never after "length".
//
// Start at Provider.Stream; request.go and messages.go encode, stream.go decodes, manners.go tells the servers
// apart.
//
// Known limits: only the first choice is read; PDF documents go to api.openai.com and OpenRouter only and
// become a note elsewhere; details of reasoning go back to the model that made them, not to another one at
// the same gateway.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	home       = "https://api.openai.com/v1"
	homeAPI    = "api.openai.com"
	openRouter = "openrouter.ai"
)

// Options configure a provider. The zero value is api.openai.com without a key.
type Options struct {
	Name    string // of the provider in a model's full name; "openai"
	BaseURL string // up to and including the version: "https://api.openai.com/v1"
	Key     string // empty: no Authorization header
	// KeyEnv and URLEnv name the variables of the key and the address, for hints; "OPENAI_API_KEY" and
	// "OPENAI_BASE_URL".
	KeyEnv, URLEnv string
	// Header is added to each request.
	Header http.Header
	HTTP   *http.Client  // nil: one of our own that keeps its connection
	NewID  func() string // mints ids for calls without one; nil: random
	// Idle is how long the server may send no content; 0: wire.DefaultIdle, on loopback wire.LocalIdle.
	Idle time.Duration
	// MaxTokens bounds an answer when the request does not; 0: the server's default.
	MaxTokens int
	// Effort is how hard a reasoning model thinks, in the server's words: "low", "medium", "high"; empty: its
	// default.
	Effort string
}

// FromEnv reads OPENAI_API_KEY and OPENAI_BASE_URL. It reports whether one of them is set: a local server
// needs no key.
func FromEnv(getenv func(string) string) (Options, bool) {
	o := Options{
		Key:     strings.TrimSpace(getenv("OPENAI_API_KEY")),
		BaseURL: strings.TrimSpace(getenv("OPENAI_BASE_URL")),
	}
	return o, o.Key != "" || o.BaseURL != ""
}

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	options Options
	client  wire.Client
	host    string
	cache   wire.Cache
	learned wire.Learned[manners]
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	if o.Name == "" {
		o.Name = "openai"
	}
	if o.BaseURL == "" {
		o.BaseURL = home
	}
	o.KeyEnv, o.URLEnv = cmp.Or(o.KeyEnv, "OPENAI_API_KEY"), cmp.Or(o.URLEnv, "OPENAI_BASE_URL")
	return &Provider{
		options: o, host: wire.Host(o.BaseURL),
		client: wire.Connect(wire.Setup{
			Name: o.Name, Base: strings.TrimRight(o.BaseURL, "/"), Header: wire.Bearer(o.Header, o.Key), Key: o.Key,
			HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle,
			KeyHint: "check " + o.KeyEnv + " and what its account may use",
			URLHint: "check " + o.URLEnv + " and the network",
		}),
	}
}

// Name is the part before the slash in a model's full name.
func (p *Provider) Name() string { return p.options.Name }

// Warm opens the connection of the first request ahead; see wire.Client.
func (p *Provider) Warm(ctx context.Context) { p.client.Warm(ctx) }

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return wire.Stream(ctx, func(out *wire.Out) (session.Done, error) {
		return p.client.Answer(func() (*wire.Reply, error) { return p.open(ctx, r) }, func(reply *wire.Reply) (session.Done, error) {
			a := answer{client: &p.client, reply: reply, out: out, calls: p.client.Calls(r.Messages)}
			err := a.read()
			return a.done, err
		})
	})
}

// open sends the request; a server that refuses a part of it is asked again without, and remembered.
func (p *Provider) open(ctx context.Context, r session.Request) (*wire.Reply, error) {
	return p.learned.Ask(r.Model, mannersOf(p.host), func(m manners) (*wire.Reply, error) {
		return p.client.Post(ctx, "/chat/completions", p.body(r, m))
	}, manners.refused)
}
