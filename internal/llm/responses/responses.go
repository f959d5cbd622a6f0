// Package responses speaks the OpenAI Responses format, streaming: api.openai.com and servers that
// offer /v1/responses (Ollama, vLLM, LM Studio, OpenRouter, ...). Nothing is stored at the
// provider: each request carries the whole conversation, with the model's encrypted reasoning.
//
// The one rule: an answer is complete with response.completed, and nothing else; a call is released
// only then, when its own item was finished, and when its pieces are what the finished item says.
//
// Start at Provider.Stream; request.go and items.go encode, stream.go and item.go decode.
//
// Known limits: items of tools that run at the provider (web search, code interpreter) are skipped,
// because none is offered; images and documents in outcomes go to api.openai.com only, others get
// them in a message of the user that follows.
package responses

import (
	"context"
	"encoding/json"
	"iter"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	home    = "https://api.openai.com/v1"
	homeAPI = "api.openai.com"
)

// Options configure a provider. The zero value is api.openai.com without a key; BaseURL goes up to
// and including the version: "https://api.openai.com/v1".
type Options = wire.Options

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
	hosted bool // api.openai.com itself
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	o = o.Or(Options{
		Name: "responses", BaseURL: home, KeyEnv: "OPENAI_API_KEY",
		URLHint: "check the base URL, that the server offers /responses, and the network",
	})
	return &Provider{Adapter: wire.Adapt(o, o.BaseURL, wire.Bearer(o.Header, o.Key)), hosted: wire.Host(o.BaseURL) == homeAPI}
}

// Format is what the choice of a model knows of this format.
func Format() wire.Format {
	return wire.Format{
		Name:   "responses",
		New:    func(o Options) session.Provider { return New(o) },
		Tools:  func(t []tool.Definition) json.RawMessage { return wire.JSON(offer(t)) },
		Shared: true,
	}
}

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Adapter.Stream(ctx, r, func(r session.Request) (*wire.Reply, error) { return p.open(ctx, r) }, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole, items: map[string]*item{}, places: map[int][]*item{}, loose: map[string]bool{}}
		err := a.read()
		return a.Done, err
	})
}

// manners are the parts of a request that not every model or account accepts.
type manners struct {
	NoSchema    bool `json:"-"` // text.format, or this schema in it
	NoEncrypted bool // include: models that do not reason refuse it
	FewEfforts  bool // reasoning.effort: knows low, medium and high alone
	NoSummary   bool // reasoning.summary: the same, and accounts that are not verified
	NoThoughts  bool `json:"-"` // reasoning items: sealed for another account
	PlainIDs    bool // ids of calls with other signs than letters, digits, _ and -
}

// open sends the request; a server that refuses a part of it is asked again without, and
// remembered.
func (p *Provider) open(ctx context.Context, r session.Request) (*wire.Reply, error) {
	r.Messages = p.Cache.Pictures(ctx, r.Messages, wire.OpenAIPictures)
	return wire.Learn(&p.Adapter, r.Model, manners{}, func(m manners) (*wire.Reply, error) {
		return p.Client.Post(ctx, "/responses", p.body(r, m))
	}, manners.refused)
}

// refused learns from a refusal; the words are those of api.openai.com.
func (m manners) refused(err error) manners {
	switch {
	case wire.Mentions(err, "text.format", "json_schema", "structured output"):
		m.NoSchema = true
	case wire.BadID(err):
		m.PlainIDs = true
	case wire.Mentions(err, "could not be verified", "could not be decrypted", "Items are not persisted"):
		m.NoThoughts = true
	case wire.Mentions(err, "ncrypted content is not supported", "reasoning.encrypted_content", "'include"):
		m.NoEncrypted = true
	case !m.FewEfforts && wire.Mentions(err, "upported values are") && wire.Mentions(err, "'low'"):
		m.FewEfforts = true
	case wire.Mentions(err, "reasoning.summary", "reasoning summaries", "reasoning.effort", "'reasoning'"):
		m.NoSummary = true
	}
	return m
}
