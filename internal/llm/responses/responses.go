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
	p := &Provider{Adapter: wire.Adapt(o, o.BaseURL, wire.Bearer(o.Header, o.Key)), hosted: wire.Host(o.BaseURL) == homeAPI}
	p.Pictures, p.Quirks = wire.OpenAIPictures, quirks()
	return p
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
	return p.Adapter.Stream(ctx, r, "/responses", p.body, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole, items: map[string]*item{}, places: map[int][]*item{}, loose: map[string]bool{}}
		err := a.read()
		return a.Done, err
	})
}

// Parts of a request that not every model or account accepts.
const (
	noSchema    = "NoSchema"    // text.format, or this schema in it
	noEncrypted = "NoEncrypted" // include: models that do not reason refuse it
	fewEfforts  = "FewEfforts"  // reasoning.effort: knows low, medium and high alone
	noSummary   = "NoSummary"   // reasoning.summary: the same, and accounts that are not verified
	noThoughts  = "NoThoughts"  // reasoning items: sealed for another account
	plainIDs    = "PlainIDs"    // ids of calls with other signs than letters, digits, _ and -
)

// quirks are learned from refusals; the words are those of api.openai.com.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: noSchema, When: [][]string{{"text.format", "json_schema", "structured output"}}, Once: true},
		wire.BadID(plainIDs),
		{Name: noThoughts, When: [][]string{{"could not be verified", "could not be decrypted", "items are not persisted"}}, Once: true},
		{Name: noEncrypted, When: [][]string{{"encrypted content is not supported", "reasoning.encrypted_content", "'include"}}},
		{Name: fewEfforts, When: [][]string{{"supported values are"}, {"'low'"}}},
		{Name: noSummary, When: [][]string{{"reasoning.summary", "reasoning summaries", "reasoning.effort", "'reasoning'"}}},
	}
}
