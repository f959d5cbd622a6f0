// Package fit refuses a prompt that is larger than the context of its model before it is sent. Some servers cut
// such a prompt silently, at its front or in its middle; the answer is then about something else.
//
// The one rule: only a prompt that certainly does not fit is refused. How many bytes a token has is guessed
// generously and corrected by what the server counts; what lies between is sent, and a count that is too small
// for what was sent is told as a cut.
//
// Start at Wrap.
//
// Known limits: a picture counts as 1,024 tokens, whatever its size.
package fit

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"adze/internal/llm/wire"
	"adze/session"
	"adze/tool"
)

const (
	// densest and thinnest bound how many bytes a token has: prose has about 4.5, code 3.5. Until a server has
	// counted, tokens are taken for thin; margin is how far the next prompt may differ from a count.
	densest, thinnest = 1.0, 8.0
	margin            = 1.15
	// imageBytes is what a picture counts as.
	imageBytes = 1024 * 4
	// smallCount is the count below which a server may have counted only what was not cached.
	smallCount = 2048
)

// Options say how large a context is.
type Options struct {
	// Limit tells how many tokens fit into a request to a model with its answer; 0: nobody knows, and
	// everything is sent. It may ask the server.
	Limit func(ctx context.Context, model string) int
	// Hint is how a larger context is had.
	Hint string
}

// Provider adds the check to another provider.
type Provider struct {
	session.Provider
	options Options

	mu     sync.Mutex
	ratios map[string]float64 // by model: bytes a token, as counted
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider that refuses what does not fit into the models of another.
func Wrap(p session.Provider, o Options) *Provider {
	return &Provider{Provider: p, options: o, ratios: map[string]float64{}}
}

// Warm lets the other provider open its connection ahead, if it can.
func (p *Provider) Warm(ctx context.Context) {
	if w, ok := p.Provider.(interface{ Warm(context.Context) }); ok {
		w.Warm(ctx)
	}
}

// Stream asks the model, unless the prompt does not fit: then Done has a session.ContextError.
func (p *Provider) Stream(ctx context.Context, r session.Request) iter.Seq[session.Chunk] {
	return func(yield func(session.Chunk) bool) {
		size, limit := bytesOf(r), p.options.Limit(ctx, r.Model)
		if err := p.refuse(r.Model, size, limit); err != nil && ctx.Err() == nil {
			yield(session.Done{Stop: session.StopError, Err: err})
			return
		}
		for c := range p.Provider.Stream(ctx, r) {
			if done, ok := c.(session.Done); ok {
				p.counted(r.Model, size, &done)
				c = done
			}
			if !yield(c) {
				return
			}
		}
	}
}

func (p *Provider) refuse(model string, size, limit int) error {
	if limit <= 0 {
		return nil
	}
	p.mu.Lock()
	ratio, ok := p.ratios[model]
	p.mu.Unlock()
	if ok {
		ratio *= margin
	} else {
		ratio = thinnest
	}
	tokens := int(float64(size) / ratio)
	if tokens < limit {
		return nil
	}
	return &session.ProviderError{
		Kind:    session.ContextError,
		Message: fmt.Sprintf("the prompt of at least %d tokens does not fit into the context of %d tokens that %s has for %s", tokens, limit, p.Name(), model),
		Hint:    p.options.Hint + "; or start a new session; or choose a model with a larger context",
	}
}

// counted learns from what the server counted, and tells of a prompt that was cut.
func (p *Provider) counted(model string, size int, done *session.Done) {
	u := done.Usage
	count := u.Input + u.CacheRead + u.CacheWrite
	if done.Err != nil || count <= 0 || size < 1000 {
		return
	}
	ratio := float64(size) / float64(count)
	switch {
	case ratio >= densest && ratio <= thinnest:
		p.mu.Lock()
		p.ratios[model] = ratio
		p.mu.Unlock()
	case ratio > thinnest && count >= smallCount && done.Notice == "":
		done.Notice = fmt.Sprintf("%s cut the prompt: of at least %d tokens it read %d; %s", p.Name(), int(float64(size)/thinnest), count, p.options.Hint)
	}
}

// bytesOf is how much text a request has. It is less than what is sent: names and quotes are left out.
func bytesOf(r session.Request) int {
	n := len(r.System)
	for _, d := range r.Tools {
		n += len(d.Name) + len(d.Description) + len(d.Offered())
	}
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			if part.Kind != session.ReasoningPart { // most servers are not sent it again
				n += len(part.Text)
			}
			if part.Call != nil {
				n += len(part.Call.Name) + len(part.Call.Arguments)
			}
			if part.Attachment != nil {
				n += attached(*part.Attachment)
			}
			if part.Outcome == nil {
				continue
			}
			n += len(part.Outcome.Output)
			for _, a := range part.Outcome.Attachments {
				n += attached(a)
			}
		}
	}
	return n
}

func attached(a tool.Attachment) int {
	if wire.KindOf(a) == wire.Image {
		return imageBytes
	}
	return 0 // a note, or a document that the server reads as it likes
}
