package child

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// SilentError says that a server did not answer.
type SilentError struct{ After time.Duration }

func (e SilentError) Error() string {
	return fmt.Sprintf("it did not answer within %s", e.After.Round(time.Millisecond))
}

// Within does something that may never return, for so long, or until ctx ends. over is closed when
// the conversation ends; if nil, nobody says so.
func Within[T any](ctx context.Context, over <-chan struct{}, limit time.Duration, do func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := do()
		done <- answer{value, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var none T
	select {
	case a := <-done:
		return a.value, a.err
	case <-over:
		select { // what was said last counts
		case a := <-done:
			return a.value, a.err
		case <-time.After(100 * time.Millisecond):
		}
		return none, errors.New("it ended")
	case <-timer.C:
		return none, SilentError{limit}
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
