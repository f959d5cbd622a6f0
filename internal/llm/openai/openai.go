// Package openai speaks the streaming Chat Completions format, with api.openai.com and every
// compatible server (llama.cpp, vLLM, LM Studio, OpenRouter, Groq, ...).
//
// The one rule: only a finish_reason or [DONE] completes an answer; calls are released only then,
// and never after "length".
//
// Start at Provider.Stream; request.go and messages.go encode, stream.go decodes, quirks.go lists
// the servers' differences.
//
// Known limits: only the first choice is read; PDF documents go to api.openai.com and OpenRouter
// only and become a note elsewhere; reasoning details go back only to the model that made them.
package openai

import (
	"context"
	"encoding/json"
	"iter"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	home       = "https://api.openai.com/v1"
	homeAPI    = "api.openai.com"
	openRouter = "openrouter.ai"
)

// Options configure a provider. The zero value is api.openai.com without a key. BaseURL includes
// the version: "https://api.openai.com/v1".
type Options = wire.Options

// A Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
	host string
}

var _ session.Provider = (*Provider)(nil)

// New returns a provider. It opens no connection.
func New(o Options) *Provider {
	o = o.WithDefaults(Options{Name: "openai", BaseURL: home, KeyEnv: "OPENAI_API_KEY", URLEnv: "OPENAI_BASE_URL"})
	p := &Provider{Adapter: wire.Adapt(o, o.BaseURL, wire.Bearer(o.Header, o.Key)), host: wire.Host(o.BaseURL)}
	p.Pictures, p.Quirks, p.ServerQuirks = wire.OpenAIPictures, quirks(), quirksOf(p.host)
	return p
}

// Format describes this format to package models.
func Format() wire.Format {
	return wire.Format{
		Name:   "chat",
		New:    func(o Options) session.Provider { return New(o) },
		Tools:  func(t []tool.Definition) json.RawMessage { return wire.JSON((&Provider{host: homeAPI}).offer(t)) },
		Shared: true,
	}
}

// Stream sends the request and yields the answer.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Adapter.Stream(ctx, r, "/chat/completions", p.body, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole}
		err := a.read()
		return a.Done, err
	})
}
