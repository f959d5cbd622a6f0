// Package responses speaks the OpenAI Responses format, streaming: api.openai.com and servers that offer
// /v1/responses (Ollama, vLLM, LM Studio, OpenRouter, ...). Nothing is stored at the provider: each request
// carries the whole conversation, with the model's encrypted reasoning.
//
// The one rule: an answer is complete with response.completed, and nothing else; a call is released only
// then, when its own item was finished, and when its pieces are what the finished item says.
//
// Start at Provider.Stream; request.go and items.go encode, stream.go and item.go decode.
//
// Known limits: items of tools that run at the provider (web search, code interpreter) are skipped, because
// none is offered; images and documents in outcomes go to api.openai.com only, others get them in a message
// of the user that follows.
package responses

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
	home    = "https://api.openai.com/v1"
	homeAPI = "api.openai.com"
)

// Options configure a provider. The zero value is api.openai.com without a key.
type Options struct {
	Name    string // of the provider in a model's full name; "responses"
	BaseURL string // up to and including the version: "https://api.openai.com/v1"
	Key     string // empty: no Authorization header
	KeyEnv  string // the variable that holds the key, for hints; "OPENAI_API_KEY"
	// Header is added to each request.
	Header http.Header
	HTTP   *http.Client  // nil: one of our own that keeps its connection
	NewID  func() string // mints ids for calls without one; nil: random
	// Idle is how long the server may send no content; 0: wire.DefaultIdle, on loopback wire.LocalIdle.
	Idle time.Duration
	// MaxTokens bounds an answer when the request does not; 0: the server's default.
	MaxTokens int
	// Effort is how hard a reasoning model thinks: "low", "medium", "high"; empty: the model's default.
	Effort string
}

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	options Options
	client  wire.Client
	hosted  bool // api.openai.com itself
	cache   wire.Cache
	learned wire.Learned[manners]
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	if o.Name == "" {
		o.Name = "responses"
	}
	if o.BaseURL == "" {
		o.BaseURL = home
	}
	if o.KeyEnv == "" {
		o.KeyEnv = "OPENAI_API_KEY"
	}
	return &Provider{
		options: o, hosted: wire.Host(o.BaseURL) == homeAPI,
		client: wire.Connect(wire.Setup{
			Name: o.Name, Base: strings.TrimRight(o.BaseURL, "/"), Header: wire.Bearer(o.Header, o.Key), Key: o.Key,
			HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle,
			KeyHint: "check " + o.KeyEnv + " and what its account may use",
			URLHint: "check the base URL, that the server offers /responses, and the network",
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
			a := answer{client: &p.client, reply: reply, out: out, items: map[string]*item{}, places: map[int][]*item{}}
			a.calls = p.client.Calls(r.Messages)
			err := a.read()
			return a.done, err
		})
	})
}

// manners are the parts of a request that not every model or account accepts.
type manners struct {
	noSchema    bool // text.format, or this schema in it
	noEncrypted bool // include: models that do not reason refuse it
	noSummary   bool // reasoning.summary: the same, and accounts that are not verified
	noThoughts  bool // reasoning items: sealed for another account, or by a server that is gone
	plainIDs    bool // ids of calls with other signs than letters, digits, _ and -
}

// open sends the request; a server that refuses a part of it is asked again without, and remembered.
func (p *Provider) open(ctx context.Context, r session.Request) (*wire.Reply, error) {
	return p.learned.Ask(r.Model, manners{}, func(m manners) (*wire.Reply, error) {
		return p.client.Post(ctx, "/responses", p.body(r, m))
	}, manners.refused)
}

// refused learns from a refusal; the words are those of api.openai.com.
func (m manners) refused(err error) manners {
	switch {
	case wire.Mentions(err, "text.format", "json_schema", "structured output"):
		m.noSchema = true
	case wire.BadID(err):
		m.plainIDs = true
	case wire.Mentions(err, "could not be verified", "could not be decrypted", "Items are not persisted"):
		m.noThoughts = true
	case wire.Mentions(err, "ncrypted content is not supported", "reasoning.encrypted_content", "'include"):
		m.noEncrypted = true
	case wire.Mentions(err, "reasoning.summary", "reasoning summaries", "reasoning.effort", "'reasoning'"):
		m.noSummary = true
	}
	return m
}
