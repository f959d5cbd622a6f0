package local

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"sync"

	"adze/internal/llm/wire"
	"adze/session"
)

const (
	// Bounds of the bytes per token; prose has about 4.5, code 3.5. Until a server has counted,
	// thinnest is assumed. margin is the allowed difference between the next prompt and a count.
	densest, thinnest = 1.0, 8.0
	margin            = 1.15
	// assumed for a picture
	imageBytes = 1024 * 4
)

// Rules for conclusions from a count.
const (
	// Below this count, a server may have left out cached tokens.
	smallCount = 2048
	// The bytes per token from which a count that is a power of two is taken for the context: by
	// chance one count in two thousand is one, and text with so few tokens is rare.
	roundRatio = 5.0
)

// sentRequest describes a sent request: its bytes, its text bytes, and the known context.
type sentRequest struct{ size, text, limit int }

// Limits configure Limit.
type Limits struct {
	// Limit returns the tokens that fit into a request to a model, with its answer; if 0,
	// everything is sent. It may query the server.
	Limit func(ctx context.Context, model string) int
	// Hint describes how to get a larger context.
	Hint func() string
	// Learned is called with the server's real context once a count reveals it; optional.
	Learned func(model string, tokens int)
}

type limiter struct {
	Limits
	server string

	mu     sync.Mutex
	ratios map[string]float64 // bytes per token as counted, by model
	limits map[string]int     // context revealed by a cut prompt, by model

	// The last conversation's size, counted as it grows.
	counted        session.ReadMark
	text, pictures int
}

// Limit refuses a prompt that exceeds its model's context before sending it: some servers cut it
// silently and answer something else. It refuses only a prompt that certainly does not fit, and
// fails an answer to one that was certainly cut. The bytes per token are a generous guess,
// corrected by the server's counts. Without limits, Limit returns nil.
func Limit(o Limits) Decorator {
	if o.Limit == nil {
		return nil
	}
	return func(p session.Provider) session.Provider {
		l := &limiter{Limits: o, server: p.Name(), ratios: map[string]float64{}, limits: map[string]int{}}
		return decorated{p, func(ctx context.Context, r session.Request, yield func(session.Chunk) bool) {
			size, text := l.bytesOf(r)
			if err := l.refuse(r.Model, size, l.limit(ctx, r.Model)); err != nil && ctx.Err() == nil {
				yield(session.Done{Stop: session.StopError, Err: err})
				return
			}
			ending(p.Stream(ctx, r), yield, func(done session.Done) session.Done {
				return l.judged(r, sentRequest{size, text, l.limit(ctx, r.Model)}, done)
			})
		}}
	}
}

// limit returns the configured limit, unless a cut revealed a smaller context.
func (l *limiter) limit(ctx context.Context, model string) int {
	told := l.Limit(ctx, model)
	l.mu.Lock()
	defer l.mu.Unlock()
	if cut := l.limits[model]; cut > 0 && (told == 0 || cut < told) {
		return cut
	}
	return told
}

// refuse returns an error if a request of size bytes certainly does not fit.
func (l *limiter) refuse(model string, size, limit int) error {
	if limit <= 0 {
		return nil
	}
	l.mu.Lock()
	ratio := cmp.Or(l.ratios[model]*margin, thinnest)
	l.mu.Unlock()
	tokens := int(float64(size) / ratio)
	if tokens < limit {
		return nil
	}
	return &session.ProviderError{
		Kind:    session.ContextError,
		Message: fmt.Sprintf("the prompt of at least %d tokens does not fit into the context of %d tokens that %s has for %s", tokens, limit, l.server, model),
		Hint:    l.hint(),
	}
}

func (l *limiter) hint() string {
	return l.Hint() + "; or start a new session; or choose a model with a larger context"
}

// bytesOf returns a request's size and its text's size. It is less than the sent size: names and
// quotes are not counted.
func (l *limiter) bytesOf(r session.Request) (all, text int) {
	text = len(r.System)
	for _, d := range r.Tools {
		text += len(d.Name) + len(d.Description) + len(d.Offered())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	from := l.counted.Advance(r.Messages)
	if from == 0 {
		l.text, l.pictures = 0, 0
	}
	for _, m := range r.Messages[from:] {
		for _, part := range m.Parts {
			if part.Kind != session.ReasoningPart { // not sent back to most servers
				l.text += len(part.Text)
			}
			if part.Call != nil {
				l.text += len(part.Call.Name) + len(part.Call.Arguments)
			}
			if part.Outcome != nil {
				l.text += len(part.Outcome.Output)
			}
			// Others are sent as a note, or as a document that the server reads its own way.
			l.pictures += len(wire.PicturesOf(part))
		}
	}
	text += l.text
	return text + l.pictures*imageBytes, text
}

// judged learns from the server's count and fails an answer to a prompt that was cut.
func (l *limiter) judged(r session.Request, a sentRequest, done session.Done) session.Done {
	u := done.Usage
	count := u.Input + u.CacheRead + u.CacheWrite
	if done.Err != nil || count <= 0 || a.size < 1000 {
		return done
	}
	l.mu.Lock()
	context, cut := cutAt(a, count)
	if context > 0 {
		l.limits[r.Model] = context
	}
	if ratio := float64(a.size) / float64(count); !cut && ratio >= densest && ratio <= thinnest {
		l.ratios[r.Model] = ratio
	}
	l.mu.Unlock()
	if !cut {
		return done
	}
	if context > 0 && l.Learned != nil {
		l.Learned(r.Model, context)
	}
	done.Stop, done.Err = session.StopError, &session.ProviderError{
		Kind:    session.ContextError,
		Message: l.told(a, count, context),
		Hint:    l.hint(),
	}
	return done
}

func (l *limiter) told(a sentRequest, count, context int) string {
	if context > 0 {
		return fmt.Sprintf("%s read only %d tokens of the prompt, which fill its context: it cut the rest in silence", l.server, count)
	}
	return fmt.Sprintf("%s cut the prompt in silence: of at least %d tokens it read %d", l.server, int(float64(a.text)/thinnest), count)
}

// cutAt reports whether a prompt was certainly cut, and the context if the count reveals it.
func cutAt(a sentRequest, count int) (context int, cut bool) {
	ratio := float64(a.text) / float64(count) // a picture may count as nothing
	switch {
	case a.limit > 0 && (count == a.limit || count == a.limit-1):
		return a.limit, true // no room is left for an answer
	case count >= smallCount-1 && ratio > roundRatio && (bits.OnesCount(uint(count)) == 1 || bits.OnesCount(uint(count+1)) == 1):
		return count, true
	}
	return 0, count >= smallCount && ratio > thinnest
}
