package session

import (
	"context"
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
