// Package anthropic speaks the Messages format, streaming: api.anthropic.com and compatible servers by
// base URL.
//
// The one rule: an answer is complete with message_stop, and nothing else; calls are released only then,
// each only when its block was closed, and never after max_tokens.
//
// Start at Provider.Stream; request.go encodes and places the cache markers, thinking.go chooses how the model
// thinks, stream.go decodes.
//
// Known limits: server tools (web search and such) are not offered, and their blocks are skipped; text
// that stood between two calls is sent back before them, only thinking blocks keep their exact place.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	home    = "https://api.anthropic.com"
	version = "2023-06-01"
	// thinkBetween lets a model with a budget think between calls; those that choose by themselves do.
	thinkBetween = "interleaved-thinking-2025-05-14"
)

// Options configure a provider. The zero value is api.anthropic.com without a key.
type Options struct {
	Name    string // of the provider in a model's full name; "anthropic"
	BaseURL string // before the version: "https://api.anthropic.com"
	Key     string
	Header  http.Header   // added to each request
	HTTP    *http.Client  // nil: one of our own that keeps its connection
	NewID   func() string // mints ids for calls without one; nil: random
	// Idle is how long the server may send no content; 0: wire.DefaultIdle, on loopback wire.LocalIdle.
	Idle time.Duration
	// MaxTokens bounds an answer when the request does not; 0: what the model's family allows.
	MaxTokens int
	// Effort is how hard the model thinks: "low", "medium", "high", "xhigh" or "max", as far as it knows them;
	// empty: it does not think, unless it always does.
	Effort string
}

// FromEnv reads ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL and reports whether one of them is set.
func FromEnv(getenv func(string) string) (Options, bool) {
	o := Options{
		Key:     strings.TrimSpace(getenv("ANTHROPIC_API_KEY")),
		BaseURL: strings.TrimSpace(getenv("ANTHROPIC_BASE_URL")),
	}
	return o, o.Key != "" || o.BaseURL != ""
}

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	options Options
	client  wire.Client
	cache   wire.Cache
	learned wire.Learned[manners]
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	if o.Name == "" {
		o.Name = "anthropic"
	}
	if o.BaseURL == "" {
		o.BaseURL = home
	}
	header := wire.With(wire.With(o.Header, "Anthropic-Version", version), "X-Api-Key", o.Key)
	if o.Effort != "" {
		header.Add("Anthropic-Beta", thinkBetween)
	}
	return &Provider{options: o, client: wire.Connect(wire.Setup{
		Name: o.Name, Base: strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1"), Header: header, Key: o.Key,
		HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle,
		KeyHint: "check ANTHROPIC_API_KEY and what its account may use",
		URLHint: "check ANTHROPIC_BASE_URL and the network",
	})}
}

// Name is the part before the slash in a model's full name.
func (p *Provider) Name() string { return p.options.Name }

// Warm opens the connection of the first request ahead; see wire.Client.
func (p *Provider) Warm(ctx context.Context) { p.client.Warm(ctx) }

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return wire.Stream(ctx, func(out *wire.Out) (session.Done, error) {
		return p.client.Answer(func() (*wire.Reply, error) { return p.open(ctx, r) }, func(reply *wire.Reply) (session.Done, error) {
			a := answer{client: &p.client, reply: reply, out: out, calls: p.client.Calls(r.Messages), blocks: map[int]*block{}}
			err := a.read()
			return a.done, err
		})
	})
}

// open sends the request; a model that refuses a part of it is asked again without, and remembered.
func (p *Provider) open(ctx context.Context, r session.Request) (*wire.Reply, error) {
	return p.learned.Ask(r.Model, manners{budget: !adapts(r.Model)}, func(m manners) (*wire.Reply, error) {
		return p.client.Post(ctx, "/v1/messages", p.body(r, m))
	}, manners.refused)
}
