package session

import (
	"context"
	"errors"
	"slices"

	"github.com/cenkalti/backoff/v5"
)

// cutOutput is how much of an output is left when the conversation does not fit even to be summed up.
const cutOutput = 2000

// sumUp asks the model for a summary of messages. It sends what the requests before it sent, so that the
// provider's cache still holds it, with the instruction at the end. What it says is not shown. attempt is the
// number of the last one.
func (s *Session) sumUp(t *turn, messages []Message, wish string) (d *draft, attempt int, err error) {
	ask := s.config.Sum
	if wish != "" {
		ask += "\n\nThe person says what must not be lost: " + wish
	}
	r := s.request()
	r.Choice = ChooseNone
	r.Messages = append(slices.Clone(s.ledger.fitting(messages)), Message{ID: s.nextID(), Role: User, Parts: []Part{{Kind: TextPart, Text: ask}}})
	pause := backoff.NewExponentialBackOff()
	for attempt = 1; ; attempt++ {
		if err := t.budget.step(); err != nil {
			return nil, attempt, err
		}
		d, err = s.gather(t.ctx, r)
		s.ledger.asked = 0 // its own size is no measure of the next request
		s.spend(t, d, err)
		asked, again := temporary(err)
		if err == nil {
			return d, attempt, nil
		}
		if serr := s.noteFailure(t, d, failedAttempt{attempt, true, err}); serr != nil {
			return d, attempt, serr
		}
		if !again || attempt == sumAttempts || t.ctx.Err() != nil {
			return d, attempt, err
		}
		delay := max(pause.NextBackOff(), min(asked, maxRetryAfter))
		s.emit(Retry{Message: d.message.ID, Attempt: attempt + 1, Of: sumAttempts, Delay: delay, Cause: err.Error()})
		if err := s.config.Wait(t.ctx, delay); err != nil {
			return d, attempt, err
		}
	}
}

// gather reads one answer without showing it. Calls are not taken: nothing runs for a summary.
func (s *Session) gather(ctx context.Context, r Request) (*draft, error) {
	d := &draft{message: Message{ID: r.Messages[len(r.Messages)-1].ID, Role: Assistant}, began: s.config.Now()}
	d.message.Prompt = new(fingerprints).of(r)
	for c := range s.config.Provider.Stream(ctx, r) {
		if d.ended {
			return d, &ProviderError{Kind: BadResponse, Message: "the adapter sent more after the end of its stream"}
		}
		switch c := c.(type) {
		case Text:
			d.append(TextPart, c.Delta, nil)
		case Done:
			d.done, d.ended = c, true
			continue
		}
		d.worked = true
	}
	err := d.settle(ctx)
	if errors.Is(err, errCut) {
		err = nil // most of a summary is better than none
	}
	if err == nil && d.message.Text() == "" {
		err = &ProviderError{Kind: BadResponse, Message: "the model summed up nothing"}
	}
	return d, err
}

// fitting is messages as far as they fit into a request: the outputs of calls are cut, the oldest first, and
// where that is not enough, the oldest messages are left out.
func (l *ledger) fitting(messages []Message) []Message {
	room := l.window*9/10 - l.tokens(l.fixedBytes)
	if l.window <= 0 { // a request that was refused, by a provider whose window nobody knows
		room = l.since(0) * 6 / 10
	}
	size := l.since(0) - l.since(len(messages))
	if size <= room {
		return messages
	}
	out := slices.Clone(messages)
	for i := range out {
		cut, saved := withoutOutputs(out[i])
		if size <= room || saved == 0 {
			continue
		}
		out[i] = cut
		size -= l.tokens(saved)
	}
	first := 0
	for first < len(out)-1 && (size > room || out[first].Role == ToolRole) {
		size -= l.since(first) - l.since(first+1)
		first++
	}
	return out[first:]
}

// withoutOutputs is a copy of a message with its outputs cut, and the bytes that this saves. It has an id of
// its own: adapters keep what they encoded by the id.
func withoutOutputs(m Message) (Message, int) {
	saved := 0
	out := m
	out.ID += "-cut"
	out.Parts = slices.Clone(m.Parts)
	for i, p := range out.Parts {
		if p.Outcome == nil || len(p.Outcome.Output) <= cutOutput {
			continue
		}
		o := *p.Outcome
		o.Output = shortened(o.Output, cutOutput)
		saved += len(p.Outcome.Output) - len(o.Output)
		out.Parts[i].Outcome = &o
	}
	return out, saved
}

// compacted takes a compaction out of a log: its request counts, and the requests before it are not those that
// the next one goes on from.
func (p *past) compacted(c Compaction) {
	p.request(c.Provider, c.Model, c.Usage)
	p.summed = true
}
