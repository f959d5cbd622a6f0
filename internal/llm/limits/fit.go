// Package limits refuses a prompt that is larger than the context of its model before it is sent.
// Some servers cut such a prompt silently, at its front or in its middle; the answer is then about
// something else.
//
// The one rule: only a prompt that certainly does not fit is refused. How many bytes a token has is
// guessed generously and corrected by what the server counts; what lies between is sent, and an
// answer to a prompt that was certainly cut is a failure: nothing of it runs.
//
// Start at Wrap; cut.go reads the counts.
//
// Known limits: a picture counts as 1,024 tokens, whatever its size.
package limits

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
	// densest and thinnest bound how many bytes a token has: prose has about 4.5, code 3.5. Until a
	// server has counted, tokens are taken for thin; margin is how far the next prompt may differ
	// from a count.
	densest, thinnest = 1.0, 8.0
	margin            = 1.15
	// mostLetters is how many letters in a row a token may have at most, safely.
	mostLetters = 16
	// imageBytes is what a picture counts as.
	imageBytes = 1024 * 4
)

// Options say how large a context is.
type Options struct {
	// Limit tells how many tokens fit into a request to a model with its answer; if 0, nobody knows,
	// and everything is sent. It may ask the server.
	Limit func(ctx context.Context, model string) int
	// Hint is how a larger context is had.
	Hint func() string
	// Learned is told the context that a server really has, when a count gave it away; if nil, nobody
	// wants to know.
	Learned func(model string, tokens int)
}

// Provider adds the check to another provider.
type Provider struct {
	session.Provider
	options Options

	mu     sync.Mutex
	ratios map[string]float64 // by model: bytes a token, as counted
	limits map[string]int     // by model: the context that a cut gave away
	stands map[string]stand   // by conversation
	talk   talk               // the last
}

var _ session.Provider = (*Provider)(nil)

// Wrap makes a provider that refuses what does not fit into the models of another.
func Wrap(p session.Provider, o Options) *Provider {
	return &Provider{Provider: p, options: o, ratios: map[string]float64{}, limits: map[string]int{}, stands: map[string]stand{}}
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
		size, text, least := p.bytesOf(r)
		if err := p.refuse(r.Model, size, least, p.limit(ctx, r.Model)); err != nil && ctx.Err() == nil {
			yield(session.Done{Stop: session.StopError, Err: err})
			return
		}
		for c := range p.Provider.Stream(ctx, r) {
			if done, ok := c.(session.Done); ok {
				c = p.judged(r, asked{size, text, p.limit(ctx, r.Model)}, done)
			}
			if !yield(c) {
				return
			}
		}
	}
}

// limit is what the options tell, unless a cut gave a smaller context away.
func (p *Provider) limit(ctx context.Context, model string) int {
	told := p.options.Limit(ctx, model)
	p.mu.Lock()
	defer p.mu.Unlock()
	if cut := p.limits[model]; cut > 0 && (told == 0 || cut < told) {
		return cut
	}
	return told
}

// refuse refuses a request of so many bytes and at least so many tokens, unless it may fit.
func (p *Provider) refuse(model string, size, least, limit int) error {
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
	tokens := max(int(float64(size)/ratio), least)
	if tokens < limit {
		return nil
	}
	return &session.ProviderError{
		Kind:    session.ContextError,
		Message: fmt.Sprintf("the prompt of at least %d tokens does not fit into the context of %d tokens that %s has for %s", tokens, limit, p.Name(), model),
		Hint:    p.hint(),
	}
}

func (p *Provider) hint() string {
	return p.options.Hint() + "; or start a new session; or choose a model with a larger context"
}

// bytesOf is how much a request has, how much of it is text, and how many tokens that has at least.
// It is less than what is sent: names and quotes are left out.
func (p *Provider) bytesOf(r session.Request) (all, text, least int) {
	text = len(r.System)
	for _, d := range r.Tools {
		text += len(d.Name) + len(d.Description) + len(d.Offered())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.talk.add(r.Messages)
	text += p.talk.text
	return text + p.talk.pictures*imageBytes, text, p.talk.words
}

// wordsIn is how many tokens a text has at least: no vocabulary has a token for more than one word.
func wordsIn(text string) (n int) {
	run := 0
	for i := range len(text) {
		if c := text[i]; c|0x20 < 'a' || c|0x20 > 'z' {
			run = 0
			continue
		}
		if run%mostLetters == 0 {
			n++
		}
		run++
	}
	return n
}

// talk is what a conversation holds, counted as it grows.
type talk struct {
	counted        session.Grown
	text, pictures int
	words          int // in it
}

func (t *talk) add(messages []session.Message) {
	from := t.counted.Since(messages)
	if from == 0 {
		t.text, t.pictures, t.words = 0, 0, 0
	}
	for i := from; i < len(messages); i++ {
		for k := range messages[i].Parts {
			t.part(&messages[i].Parts[k])
		}
	}
}

func (t *talk) part(part *session.Part) {
	if part.Kind != session.ReasoningPart { // most servers are not sent it again
		t.text += len(part.Text)
		t.words += wordsIn(part.Text)
	}
	if part.Call != nil {
		t.text += len(part.Call.Name) + len(part.Call.Arguments)
		t.words += wordsIn(part.Call.Arguments)
	}
	if part.Attachment != nil {
		t.attachment(*part.Attachment)
	}
	if part.Outcome == nil {
		return
	}
	t.text += len(part.Outcome.Output)
	t.words += wordsIn(part.Outcome.Output)
	for _, a := range part.Outcome.Attachments {
		t.attachment(a)
	}
}

func (t *talk) attachment(a tool.Attachment) {
	if wire.KindOf(a) == wire.Image {
		t.pictures++ // else a note, or a document that the server reads as it likes
	}
}
