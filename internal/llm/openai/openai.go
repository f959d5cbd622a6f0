// Package openai speaks the Chat Completions format, streaming: api.openai.com and every compatible
// server by base URL (llama.cpp, vLLM, LM Studio, OpenRouter, Groq, ...).
//
// The one rule: an answer is complete with a finish_reason or [DONE], and nothing else; calls are released
// only then, and never after "length".
//
// Start at Provider.Stream; request.go encodes, stream.go decodes.
//
// Known limits: only the first choice is read; content that arrives as a list of typed parts (Mistral's
// reasoning models) is refused as malformed; OpenRouter's reasoning_details are not kept; PDF documents go
// to api.openai.com only and become a note elsewhere.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	home    = "https://api.openai.com/v1"
	homeAPI = "api.openai.com"
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
	url     string
	hosted  bool // api.openai.com itself
	cache   wire.Cache
	// noUsage is set when the server refused stream_options.
	noUsage atomic.Bool
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
	if o.NewID == nil {
		o.NewID = wire.NewID
	}
	host := hostOf(o.BaseURL)
	if o.Idle == 0 {
		o.Idle = wire.DefaultIdle
		if wire.Loopback(host) {
			o.Idle = wire.LocalIdle
		}
	}
	return &Provider{
		options: o, hosted: host == homeAPI,
		url: strings.TrimRight(o.BaseURL, "/") + "/chat/completions",
		client: wire.Client{
			Provider: o.Name, HTTP: wire.HTTP(o.HTTP), Idle: o.Idle, Secret: o.Key,
			KeyHint: "check " + o.KeyEnv + " and what its account may use",
			URLHint: "check " + o.URLEnv + " and the network",
		},
	}
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Name is the part before the slash in a model's full name.
func (p *Provider) Name() string { return p.options.Name }

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return wire.Stream(ctx, func(out *wire.Out) (session.Done, error) {
		reply, err := p.open(ctx, r)
		if err != nil {
			return session.Done{}, err
		}
		defer reply.Close()
		a := answer{client: &p.client, reply: reply, out: out}
		a.calls = wire.Calls{Mint: p.options.NewID, History: r.Messages}
		err = a.read()
		return a.done, err
	})
}

// open sends the request; a server that refuses stream_options is asked again without, and remembered.
func (p *Provider) open(ctx context.Context, r session.Request) (*wire.Reply, error) {
	usage := !p.noUsage.Load()
	reply, err := p.post(ctx, r, usage)
	if usage && wire.Mentions(err, "stream_options", "include_usage") {
		p.noUsage.Store(true)
		return p.post(ctx, r, false)
	}
	return reply, err
}

func (p *Provider) post(ctx context.Context, r session.Request, usage bool) (*wire.Reply, error) {
	header := p.options.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Accept", "text/event-stream")
	if p.options.Key != "" {
		header.Set("Authorization", "Bearer "+p.options.Key)
	}
	return p.client.Open(ctx, wire.Call{
		Method: http.MethodPost, URL: p.url, Header: header, Body: p.body(r, usage),
	})
}
