// Package anthropic speaks the Messages format, streaming: api.anthropic.com and compatible servers
// by base URL.
//
// The one rule: an answer is complete with message_stop, and nothing else; calls are released only
// then, each only when its block was closed, and never after max_tokens.
//
// Start at Provider.Stream; request.go encodes and places the cache markers, thinking.go chooses
// how the model thinks, stream.go decodes.
//
// Known limits: server tools (web search and such) are not offered, and their blocks are skipped;
// text that stood between two calls is sent back before them, only thinking blocks keep their exact
// place.
package anthropic

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	home    = "https://api.anthropic.com"
	version = "2023-06-01"
	// thinkBetween lets a model with a budget think between calls; those that choose by themselves
	// do.
	thinkBetween = "interleaved-thinking-2025-05-14"
)

// Options configure a provider. The zero value is api.anthropic.com without a key; BaseURL ends
// before the version: "https://api.anthropic.com". Without Effort a model does not think, unless it
// always does.
type Options = wire.Options

// Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
}

var _ session.Provider = (*Provider)(nil)

// New makes a provider. It does no work and opens no connection.
func New(o Options) *Provider {
	o = o.Or(Options{Name: "anthropic", BaseURL: home, KeyEnv: "ANTHROPIC_API_KEY", URLEnv: "ANTHROPIC_BASE_URL"})
	header := wire.With(wire.With(o.Header, "Anthropic-Version", version), "X-Api-Key", o.Key)
	if o.Effort != "" {
		header.Add("Anthropic-Beta", thinkBetween)
	}
	p := &Provider{Adapter: wire.Adapt(o, strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1"), header)}
	p.Pictures, p.Quirks = wire.AnthropicPictures, quirks()
	return p
}

// Format is what the choice of a model knows of this format.
func Format() wire.Format {
	return wire.Format{
		Name: "messages",
		New:  func(o Options) session.Provider { return New(o) },
		Tools: func(t []tool.Definition) json.RawMessage {
			return append(append(json.RawMessage{'['}, offer(t)...), ']')
		},
		List: wire.ListBelow("/v1"), Shared: true,
		Header: func(key string) http.Header {
			return http.Header{"X-Api-Key": {key}, "Anthropic-Version": {version}}
		},
	}
}

// Stream asks the model.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Adapter.Stream(ctx, r, "/v1/messages", p.body, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole, blocks: map[int]*block{}}
		err := a.read()
		return a.Done, err
	})
}
