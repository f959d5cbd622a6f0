package local

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
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
	// imageBytes is what a picture counts as.
	imageBytes = 1024 * 4
)

// Rules of what a count gives away.
const (
	// smallCount is the count below which a server may have counted only what was not cached.
	smallCount = 2048
	// roundRatio is how many bytes a token must seem to have for a count that is a power of two to
	// be a context: by chance one in two thousand counts is one, and text of so few tokens is rare.
	roundRatio = 5.0
)

// sentRequest is a request as it was sent: its bytes, those of its text alone, and the context that
// is known for it.
type sentRequest struct{ size, text, limit int }

// Limits say how large the contexts of a server are.
type Limits struct {
	// Limit is how many tokens fit into a request to a model with its answer; if 0, nobody knows,
	// and everything is sent. It may ask the server.
	Limit func(ctx context.Context, model string) int
	// Hint is how a larger context is had.
	Hint func() string
	// Learned is called with the context that a server really has, when a count gave it away;
	// optional.
	Learned func(model string, tokens int)
}

// limiter is what the counts of one server say.
type limiter struct {
	Limits
	server string

	mu     sync.Mutex
	ratios map[string]float64 // by model: bytes a token, as counted
	limits map[string]int     // by model: the context that a cut gave away
	talk   talk               // the last
}

// Limit refuses a prompt that is larger than the context of its model before it is sent: some
// servers cut it silently, and the answer is then about something else. Only a prompt that
// certainly does not fit is refused; an answer to one that was certainly cut is a failure. How
// many bytes a token has is guessed generously and corrected by what the server counts. Without
// limits, the result is nil.
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

// limit is what the options tell, unless a cut gave a smaller context away.
func (l *limiter) limit(ctx context.Context, model string) int {
	told := l.Limit(ctx, model)
	l.mu.Lock()
	defer l.mu.Unlock()
	if cut := l.limits[model]; cut > 0 && (told == 0 || cut < told) {
		return cut
	}
	return told
}

// refuse refuses a request of so many bytes, unless it may fit.
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

// bytesOf is how much a request has, and how much of it is text. It is less than what is sent:
// names and quotes are left out.
func (l *limiter) bytesOf(r session.Request) (all, text int) {
	text = len(r.System)
	for _, d := range r.Tools {
		text += len(d.Name) + len(d.Description) + len(d.Offered())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.talk.add(r.Messages)
	text += l.talk.text
	return text + l.talk.pictures*imageBytes, text
}

// talk is what a conversation holds, counted as it grows.
type talk struct {
	counted        session.Grown
	text, pictures int
}

func (t *talk) add(messages []session.Message) {
	from := t.counted.Since(messages)
	if from == 0 {
		t.text, t.pictures = 0, 0
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
	}
	if part.Call != nil {
		t.text += len(part.Call.Name) + len(part.Call.Arguments)
	}
	if part.Attachment != nil {
		t.attachment(*part.Attachment)
	}
	if part.Outcome == nil {
		return
	}
	t.text += len(part.Outcome.Output)
	for _, a := range part.Outcome.Attachments {
		t.attachment(a)
	}
}

func (t *talk) attachment(a tool.Attachment) {
	if wire.KindOf(a) == wire.Image {
		t.pictures++ // else a note, or a document that the server reads as it likes
	}
}

// judged learns from what the server counted, and makes a failure of an answer to a prompt that was
// cut.
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

// cutAt reports whether a prompt was certainly cut, and the context when the count gives it away.
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
