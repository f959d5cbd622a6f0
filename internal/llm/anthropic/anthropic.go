// Package anthropic speaks the Messages format, streaming: api.anthropic.com and compatible servers by
// base URL.
//
// The one rule: an answer is complete with message_stop, and nothing else; calls are released only then,
// each only when its block was closed, and never after max_tokens.
//
// Start at Provider.Stream; request.go encodes and places the cache markers, stream.go decodes.
//
// Known limits: server tools (web search and such) are not offered, and their blocks are skipped; text
// that stood between two calls is sent back before them, only thinking blocks keep their exact place.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	home    = "https://api.anthropic.com"
	version = "2023-06-01"
	// thinkBetween lets a model think between calls; harmless for models that always do.
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
	// Thinking is the budget of tokens for extended thinking; 0: off. The API wants at least 1,024.
	Thinking int
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
	url     string
	cache   wire.Cache
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
	if o.NewID == nil {
		o.NewID = wire.NewID
	}
	if o.Idle == 0 {
		o.Idle = wire.DefaultIdle
		if u, err := url.Parse(o.BaseURL); err == nil && wire.Loopback(u.Hostname()) {
			o.Idle = wire.LocalIdle
		}
	}
	base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	return &Provider{
		options: o, url: base + "/v1/messages",
		client: wire.Client{
			Provider: o.Name, HTTP: wire.HTTP(o.HTTP), Idle: o.Idle, Secret: o.Key,
			KeyHint: "check ANTHROPIC_API_KEY and what its account may use",
			URLHint: "check ANTHROPIC_BASE_URL and the network",
		},
	}
}

// Name is the part before the slash in a model's full name.
func (p *Provider) Name() string { return p.options.Name }

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return wire.Stream(ctx, func(out *wire.Out) (session.Done, error) {
		reply, err := p.client.Open(ctx, wire.Call{
			Method: http.MethodPost, URL: p.url, Header: p.header(), Body: p.body(r),
		})
		if err != nil {
			return session.Done{}, err
		}
		defer reply.Close()
		a := answer{client: &p.client, reply: reply, out: out, blocks: map[int]*block{}}
		a.calls = wire.Calls{Mint: p.options.NewID, History: r.Messages}
		err = a.read()
		return a.done, err
	})
}

func (p *Provider) header() http.Header {
	h := p.options.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Accept", "text/event-stream")
	h.Set("Anthropic-Version", version)
	if p.options.Thinking > 0 {
		h.Add("Anthropic-Beta", thinkBetween)
	}
	if p.options.Key != "" {
		h.Set("X-Api-Key", p.options.Key)
	}
	return h
}
