// Package responses speaks the streaming OpenAI Responses format, with api.openai.com and other
// servers of /v1/responses (Ollama, vLLM, LM Studio, OpenRouter, ...). The provider stores nothing:
// each request carries the whole conversation, including encrypted reasoning.
//
// The one rule: only response.completed completes an answer. A call is released only then, if its
// own item was finished and equals its pieces.
//
// Start at Provider.Stream; request.go and items.go encode, stream.go and item.go decode.
//
// Known limits: items of server tools (web search, code interpreter) are skipped, because none is
// offered; images and documents in results go to api.openai.com only, other servers get them in a
// user message that follows.
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

// Options configure a provider. The zero value is api.openai.com without a key. BaseURL includes
// the version: "https://api.openai.com/v1".
type Options = wire.Options

// A Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
	hosted bool // api.openai.com itself
}

var _ session.Provider = (*Provider)(nil)

// New returns a provider. It opens no connection.
func New(o Options) *Provider {
	o = o.WithDefaults(Options{
		Name: "responses", BaseURL: home, KeyEnv: "OPENAI_API_KEY",
		URLHint: "check the base URL, that the server offers /responses, and the network",
	})
	p := &Provider{Adapter: wire.Adapt(o, o.BaseURL, wire.Bearer(o.Header, o.Key)), hosted: wire.Host(o.BaseURL) == homeAPI}
	p.Pictures, p.Quirks = wire.OpenAIPictures, quirks()
	return p
}

// Format describes this format to package models.
func Format() wire.Format {
	return wire.Format{
		Name:   "responses",
		New:    func(o Options) session.Provider { return New(o) },
		Tools:  func(t []tool.Definition) json.RawMessage { return wire.JSON(offer(t)) },
		Shared: true,
	}
}

// Stream sends the request and yields the answer.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Adapter.Stream(ctx, r, "/responses", p.body, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole, items: map[string]*item{}, places: map[int][]*item{}, kinds: map[string][]*item{}, loose: map[string]bool{}}
		err := a.read()
		return a.Done, err
	})
}

// Quirks: parts of a request that not every model or account accepts.
const (
	noSchema    = "NoSchema"    // text.format, or this schema in it
	noEncrypted = "NoEncrypted" // include: refused by models that do not reason
	fewEfforts  = "FewEfforts"  // reasoning.effort: only low, medium and high
	noSummary   = "NoSummary"   // reasoning.summary: the same, and unverified accounts
	noThoughts  = "NoThoughts"  // reasoning items encrypted for another account
	plainIDs    = "PlainIDs"    // call ids with signs other than letters, digits, _ and -
)

// quirks are learned from error messages of api.openai.com.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: noSchema, RefusalWords: [][]string{{"text.format", "json_schema", "structured output"}}, PerConversation: true},
		wire.BadID(plainIDs),
		{Name: noThoughts, RefusalWords: [][]string{{"could not be verified", "could not be decrypted", "items are not persisted"}}, PerConversation: true},
		{Name: noEncrypted, RefusalWords: [][]string{{"encrypted content is not supported", "reasoning.encrypted_content", "'include"}}},
		{Name: fewEfforts, RefusalWords: [][]string{{"supported values are"}, {"'low'"}}},
		{Name: noSummary, RefusalWords: [][]string{{"reasoning.summary", "reasoning summaries", "reasoning.effort", "'reasoning'"}}},
	}
}
