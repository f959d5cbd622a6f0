package session

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Retries for one model request.
const (
	maxAttempts = 5 // in all
	// maxBroken limits the answers that break off: they cost time and money, and after three
	// another would break too.
	maxBroken = 3
	// maxRetryAfter is the longest requested wait that a turn accepts. A longer rate limit ends the
	// turn, since earlier retries are in vain.
	maxRetryAfter = 5 * time.Minute
)

// attempts repeats a request until an answer, a lasting failure or the last attempt. The text of an
// answer that broke off is void, as the Retry event reports; nothing has run, because calls come
// last.
func (s *Session) attempts(t *turn, id string) (*draft, error) {
	pause := backoff.NewExponentialBackOff() // 0.5 s, growing by half with jitter
	broken := 0
	for attempt := 1; ; attempt++ {
		d, err := s.stream(t, id)
		asked, again := temporary(err)
		of := maxAttempts
		if d.begun(err) {
			broken++
			of = min(of, attempt+maxBroken-broken)
		}
		s.spend(t, d, err)
		again = again && len(d.calls) == 0 && attempt < maxAttempts && broken < maxBroken && t.ctx.Err() == nil && t.budget.tooDear() == nil
		if serr := s.noteFailure(t, d, failedAttempt{attempt, again, err}); serr != nil {
			return d, serr
		}
		if err == nil || !again {
			return d, err
		}
		delay := max(pause.NextBackOff(), min(asked, maxRetryAfter))
		s.emit(Retry{Message: id, Attempt: attempt + 1, Of: of, Delay: delay, Cause: err.Error()})
		if err := s.config.Wait(t.ctx, delay); err != nil {
			d.message.Parts, d.message.Stop = nil, StopAborted // its text is void
			return d, err
		}
	}
}

// spend counts the usage and cost of one request, whether it failed or not.
func (s *Session) spend(t *turn, d *draft, err error) {
	provider, model := d.answering(s.config)
	used, price := d.done.Usage, cost{}
	if !unanswered(d, err) {
		price = s.config.costOf(provider, model, used)
		broke := err != nil && d.worked && used.Output == 0 // its output was not counted
		price.unknown = price.unknown || broke
	}
	t.budget.spend(provider+"/"+model, used, price)
	s.ledger.counted(used)
	s.emit(s.requested(d, err, Requested{Message: d.message.ID, Provider: provider, Model: model, Cost: price.sum()}))
}

// requested fills in the known facts about an ended request.
func (s *Session) requested(d *draft, err error, r Requested) Requested {
	r.Stop, r.Usage, r.Duration = d.message.Stop, d.done.Usage, s.config.Now().Sub(d.start)
	if d.worked && !d.heard.IsZero() {
		r.First = d.heard.Sub(d.start)
	}
	var p *ProviderError
	if errors.As(err, &p) {
		r.Kind = p.Kind
	}
	return r
}

// begun reports whether a failed attempt had begun to answer.
func (d *draft) begun(err error) bool {
	var p *ProviderError
	return d.worked || d.done.Usage.Output > 0 || errors.As(err, &p) && p.Cut
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// FailedRequest is a request entry's data: a model request without a message in the log. Other
// requests have their hash in their message.
type FailedRequest struct {
	Message  string        `json:"message"` // id of the expected answer
	Attempt  int           `json:"attempt"` // from 1
	Provider string        `json:"provider"`
	Model    string        `json:"model"`
	Prompt   string        `json:"prompt_sha256"`
	Kind     ErrorKind     `json:"kind,omitempty"`
	Error    string        `json:"error"`
	Usage    *Usage        `json:"usage,omitempty"`
	Duration time.Duration `json:"duration_ns,omitempty"`
}

// failedAttempt is an attempt that may have failed. again means another one follows.
type failedAttempt struct {
	number int
	again  bool
	err    error
}

// noteFailure stores a request without a valid message, so that the log has every request.
func (s *Session) noteFailure(t *turn, d *draft, f failedAttempt) error {
	if len(d.message.Parts) > 0 && !f.again || errors.Is(f.err, errStore) {
		return nil
	}
	if f.err == nil {
		f.err = errors.New("the model answered with nothing")
	}
	failed := FailedRequest{
		Message: d.message.ID, Attempt: f.number, Prompt: d.message.Prompt, Error: f.err.Error(), Duration: d.message.Duration,
	}
	failed.Provider, failed.Model = d.answering(s.config)
	if d.done.Usage != (Usage{}) {
		failed.Usage = &d.done.Usage
	}
	var p *ProviderError
	if errors.As(f.err, &p) {
		failed.Kind = p.Kind
	}
	return s.store(t.ctx, s.entry(RequestEntry, failed))
}

// recover continues after a failed answer, or returns the error that ends the turn.
func (s *Session) recover(t *turn, failed error) error {
	var c *cutCall
	if errors.As(failed, &c) && !t.cut {
		t.cut = true
		return s.remark(t, c.advice())
	}
	if p := stumbled(failed); p != nil && !t.stumbled {
		t.stumbled = true
		return s.remark(t, p.correction())
	}
	return s.shrink(t, failed)
}
