// Package anthropic speaks the streaming Messages format, with api.anthropic.com and compatible
// servers.
//
// The one rule: only message_stop completes an answer; calls are released only then, each only if
// its block was closed, and never after max_tokens.
//
// Start at Provider.Stream; request.go encodes and places the cache markers, thinking.go sets how
// the model thinks, stream.go decodes.
//
// Known limits: server tools such as web search are not offered, and their blocks are skipped; text
// between two calls is sent back before both, only thinking blocks keep their exact place.
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
	// Lets a model with a thinking budget think between calls; adaptive models do so anyway.
	thinkBetween = "interleaved-thinking-2025-05-14"
)

// Options configure a provider. The zero value is api.anthropic.com without a key. BaseURL ends
// before the version: "https://api.anthropic.com". Without Effort a model does not think, unless it
// always does.
type Options = wire.Options

// A Provider is a session.Provider. It is safe for concurrent use.
type Provider struct {
	wire.Adapter
	betas []string // for a cloud, which takes them in the body
}

var _ session.Provider = (*Provider)(nil)

// New returns a provider. It opens no connection.
func New(o Options) *Provider {
	o = o.WithDefaults(Options{Name: "anthropic", BaseURL: home, KeyEnv: "ANTHROPIC_API_KEY", URLEnv: "ANTHROPIC_BASE_URL"})
	header := wire.WithHeader(wire.WithHeader(o.Header, "Anthropic-Version", version), "X-Api-Key", o.Key)
	var betas []string
	switch {
	case o.Door != nil && o.Door.Version != "":
		header = wire.Bearer(o.Header, o.Key)
		if o.Effort != "" {
			betas = []string{thinkBetween}
		}
	case o.Effort != "":
		header.Add("Anthropic-Beta", thinkBetween)
	}
	p := &Provider{betas: betas, Adapter: wire.Adapt(o, strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1"), header)}
	p.Pictures, p.Quirks = wire.AnthropicPictures, quirks()
	return p
}

// Format describes this format to package models.
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

// Stream sends the request and yields the answer.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return p.Adapter.Stream(ctx, r, "/v1/messages", p.body, func(whole wire.Answer) (session.Done, error) {
		a := answer{Answer: whole, blocks: map[int]*block{}}
		err := a.read()
		return a.Done, err
	})
}
