package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long a user's command asks again while no server answers, and after which pause. Three
// servers choose a new leader in 2 to 7 s.
const (
	awayMost = 30 * time.Second
	askAgain = 300 * time.Millisecond
	askLeast = 3 // times, however long one takes

	patchTakes = 15 * time.Second // the first time; then twice as long
)

// patiently does what can be done twice until a server answers, or none has for a while.
func patiently(ctx context.Context, do func() error) error {
	giveUp := time.Now().Add(awayMost)
	for tries := 1; ; tries++ {
		err := do()
		if !errors.Is(err, ErrAway) || tries >= askLeast && time.Now().After(giveUp) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(askAgain):
		}
	}
}

// pauseFor waits, and returns false when the attempt was over before.
func (a *attempt) pauseFor(over <-chan struct{}, while time.Duration) bool {
	wait := time.NewTimer(while)
	defer wait.Stop()
	select {
	case <-over:
		return false
	case <-wait.C:
		return true
	}
}

// written reads what stood in the way of a first write. Where nothing is there, a write is on its
// way: it may be one's own, and may come to nothing when its leader is lost.
func written[T any](ctx context.Context, b Book, key string) (T, error) {
	v, _, err := read[T](ctx, b, key)
	if errors.Is(err, ErrNone) {
		return v, fmt.Errorf("%w: a write of %s is on its way", ErrAway, key)
	}
	return v, err
}
