package ollama

import (
	"context"
	"encoding/base64"
	"fmt"

	"adze/internal/llm/wire"
	"adze/session"
)

// Context sizes in tokens.
const (
	smallestContext = 8192 // tools, a system prompt and a few files
	largeContext    = 32768
	answerRoom      = 4096 // if the request sets no limit
	unknownLimit    = 32768
	// A first guess for code and prose, corrected by the server's counts.
	bytesPerToken = 4.0
	// Bounds of a plausible count, in bytes per token; no tokenizer exceeds them.
	densest, thinnest = 2.0, 8.0
	// Vision models spend about this much on an image.
	imageTokens = 1024
)

type window struct {
	context int     // largest num_ctx sent so far; any other value makes the server reload the model
	ratio   float64 // bytes per token
}

// sizedRequest holds the numbers that a request was sized by.
type sizedRequest struct {
	bytes, tokens, context int
}

// fit chooses num_ctx for a prompt of bytes length: the estimate plus room for the answer, rounded
// up to a step. It never shrinks, and stays within the model's limit and Options.MaxContext.
func (p *Provider) fit(r session.Request, d details, bytes int) sizedRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.window[r.Model]
	if w == nil {
		w = &window{context: max(smallestContext, d.configured), ratio: bytesPerToken}
		p.window[r.Model] = w
	}
	tokens := int(float64(bytes) / w.ratio)
	room := r.MaxTokens
	if room == 0 {
		room = answerRoom
	}
	for w.context < tokens+room && w.context < p.limit(d) {
		w.context = step(w.context)
	}
	w.context = min(w.context, p.limit(d))
	return sizedRequest{bytes, tokens, w.context}
}

// step returns the next larger num_ctx. A new value makes the server reload the model and read the
// prompt again, so small ones double; large ones, limited by memory, grow in half steps: 32k, 48k,
// 64k, 96k, 128k.
func step(context int) int {
	power := smallestContext
	for power*2 <= context {
		power *= 2
	}
	if context < largeContext {
		return context * 2
	}
	if next := power + power/2; context < next {
		return next
	}
	return power * 2
}

// textBytes returns a body's length with each image counted at its token cost, not as base64.
func (p *Provider) textBytes(r session.Request, d details, bytes int) int {
	if !d.vision || !p.Cache.Pictured(r.Messages) {
		return bytes
	}
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			for _, a := range wire.PicturesOf(part) {
				bytes += imageTokens*bytesPerToken - base64.StdEncoding.EncodedLen(len(a.Data))
			}
		}
	}
	return max(bytes, 0)
}

func (p *Provider) limit(d details) int {
	limit := d.context
	if limit == 0 {
		limit = max(unknownLimit, d.configured)
	}
	if p.Options.MaxContext > 0 {
		limit = min(limit, p.Options.MaxContext)
	}
	return limit
}

// Limit returns the largest context in tokens that a request to a model gets: the model's own, at
// most Options.MaxContext. It queries the server once per model and returns 0 if that fails.
func (p *Provider) Limit(ctx context.Context, model string) int {
	d, err := p.details(ctx, model)
	if err != nil {
		return 0
	}
	return p.limit(d)
}

// Toolless reports whether the server says that a model takes no tools.
func (p *Provider) Toolless(ctx context.Context, model string) bool {
	d, err := p.details(ctx, model)
	return err == nil && d.toolless
}

// RejectsImages reports whether the server says that a model takes no images.
func (p *Provider) RejectsImages(ctx context.Context, model string) bool {
	d, err := p.details(ctx, model)
	return err == nil && !d.absent && !d.vision
}

// widen enlarges the context after the server refused a prompt as too long. It returns false at the
// model's limit.
func (p *Provider) widen(model string, s sizedRequest, d details) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.window[model]
	if s.context >= p.limit(d) {
		return false
	}
	w.context = min(max(w.context, step(s.context)), p.limit(d))
	return true
}

// counted corrects the estimate by the server's count of the prompt, and fails if the server cut
// the prompt.
func (p *Provider) counted(model string, s sizedRequest, count int) error {
	if count <= 0 {
		return nil // an older server with the prompt in its cache
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ratio := float64(s.bytes) / float64(count)
	switch {
	case count >= s.context-1:
		return tooSmall(fmt.Sprintf("the prompt fills the context of %d tokens; ollama may have cut its front", s.context))
	case count >= smallestContext/4 && ratio > thinnest:
		return tooSmall(fmt.Sprintf("ollama cut the front of the prompt: of about %d tokens it read %d", s.tokens, count))
	}
	if w := p.window[model]; w != nil && ratio < w.ratio && s.bytes > 1000 {
		w.ratio = max(densest, ratio)
	}
	return nil
}

func tooSmall(message string) error {
	return &session.ProviderError{
		Kind: session.ContextError, Message: message,
		Hint: "update ollama, which refuses such a prompt since 0.12.6; start a new session; or choose a model with a larger context",
	}
}
