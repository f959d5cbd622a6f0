package ollama

import (
	"context"
	"encoding/base64"
	"fmt"

	"adze/session"
)

// Sizes of the context, in tokens.
const (
	smallestContext = 8192 // tools, a system prompt and a few files
	largeContext    = 32768
	answerRoom      = 4096 // when the request does not say how long the answer may be
	unknownLimit    = 32768
	// bytesPerToken is a first guess for code and prose; what the server counts corrects it.
	bytesPerToken = 4.0
	// Bounds of a believable count: denser than 2 bytes a token, or thinner than 8, no tokenizer
	// is.
	densest, thinnest = 2.0, 8.0
	// imageTokens is what vision models spend on a picture, about.
	imageTokens = 1024
)

// window is the context of one model in this process.
type window struct {
	context int     // the largest num_ctx sent so far; another value makes the server load the model anew
	ratio   float64 // bytes a token
}

// sizedRequest is what a request was sized for.
type sizedRequest struct {
	bytes, tokens, context int
}

// fit chooses num_ctx for a prompt of so many bytes: the estimate and room for the answer, rounded
// up to a step, never less than before, at most what the model has and Options.MaxContext allows.
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

// step is the next larger num_ctx. A new value makes the server load the model anew and read the
// whole prompt again, so small ones double; large ones, whose memory counts, grow by half of a
// power of two: 32k, 48k, 64k, 96k, 128k.
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

// textBytes is the length of a body in which each image counts as what it costs, not as its base64.
func textBytes(r session.Request, d details, bytes int) int {
	e := encoder{images: d.vision}
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			if part.Attachment != nil && e.takes(*part.Attachment) {
				bytes += imageTokens*bytesPerToken - base64.StdEncoding.EncodedLen(len(part.Attachment.Data))
			}
			if part.Outcome == nil {
				continue
			}
			for _, a := range part.Outcome.Attachments {
				if e.takes(a) {
					bytes += imageTokens*bytesPerToken - base64.StdEncoding.EncodedLen(len(a.Data))
				}
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

// Limit is the largest context that a request to a model gets, in tokens: what the model has, at
// most Options.MaxContext. It asks the server once for each model; if 0, the server does not
// answer.
func (p *Provider) Limit(ctx context.Context, model string) int {
	d, err := p.details(ctx, model)
	if err != nil {
		return 0
	}
	return p.limit(d)
}

// Toolless reports a model of which the server says that it takes no tools.
func (p *Provider) Toolless(ctx context.Context, model string) bool {
	d, err := p.details(ctx, model)
	return err == nil && d.toolless
}

// Blind reports a model of which the server says that it takes no pictures.
func (p *Provider) Blind(ctx context.Context, model string) bool {
	d, err := p.details(ctx, model)
	return err == nil && !d.absent && !d.vision
}

// widen enlarges the context after the server said that a prompt did not fit; if false, the model
// has no more.
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

// counted compares the server's count of the prompt with what was sent, corrects the estimate, and
// fails when the server cut the prompt: what it answered is about something else.
func (p *Provider) counted(model string, s sizedRequest, count int) error {
	if count <= 0 {
		return nil // an older server that had the whole prompt cached
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
