package session

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Retries of one model request: attempts in all, and the longest wait that a provider may ask for.
const (
	maxAttempts   = 5
	maxRetryAfter = time.Minute
)

// attempts asks until an answer, a lasting failure or the end of the attempts. Nothing is asked again
// once something was shown: the person would read it twice.
func (s *Session) attempts(t *turn, id string) (*draft, error) {
	pause := backoff.NewExponentialBackOff() // 0.5 s, growing by half with jitter
	for attempt := 1; ; attempt++ {
		d, err := s.stream(t, id)
		if serr := s.noteFailure(t, d, attempt, err); serr != nil {
			return d, serr
		}
		s.spend(t, d, err)
		asked, again := temporary(err)
		if err == nil || !again || d.text || attempt == maxAttempts || t.ctx.Err() != nil {
			return d, err
		}
		delay := max(pause.NextBackOff(), min(asked, maxRetryAfter))
		s.emit(Retry{Message: id, Attempt: attempt + 1, Of: maxAttempts, Delay: delay, Cause: err.Error()})
		if err := wait(t.ctx, delay); err != nil {
			d.message.Stop = StopAborted
			return d, err
		}
	}
}

// wait sleeps unless ctx ends first.
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

// FailedRequest is the data of a request entry: a model request that left no message in the log. The hash
// of every other one is in its message.
type FailedRequest struct {
	Message  string        `json:"message"` // the id that the answer would have had
	Attempt  int           `json:"attempt"` // from 1
	Provider string        `json:"provider"`
	Model    string        `json:"model"`
	Prompt   string        `json:"prompt_sha256"`
	Kind     ErrorKind     `json:"kind,omitempty"`
	Error    string        `json:"error"`
	Usage    *Usage        `json:"usage,omitempty"`
	Took     time.Duration `json:"duration_ns,omitempty"`
}

// noteFailure stores a request that failed before it said anything, so that every request is in the log.
func (s *Session) noteFailure(t *turn, d *draft, attempt int, err error) error {
	if len(d.message.Parts) > 0 || errors.Is(err, errStore) {
		return nil
	}
	if err == nil {
		err = errors.New("the model answered with nothing")
	}
	failed := FailedRequest{
		Message: d.message.ID, Attempt: attempt, Provider: s.config.Provider.Name(), Model: s.config.Model,
		Prompt: d.message.Prompt, Error: err.Error(), Took: d.message.Took,
	}
	if d.done.Usage != (Usage{}) {
		failed.Usage = &d.done.Usage
	}
	var p *ProviderError
	if errors.As(err, &p) {
		failed.Kind = p.Kind
	}
	return s.store(t.ctx, s.entry(RequestEntry, failed))
}
