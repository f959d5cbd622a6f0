package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"adze/internal/fleet/batch"
	"adze/internal/text/jsontext"
)

// Keys of the book of runs.
const (
	asksBelow   = "ask."
	runsBelow   = "run."
	ordersBelow = "batch."
	pursesBelow = "purse."
)

// read gets a value. What cannot be read is damage.
func read[T any](ctx context.Context, b Book, key string) (v T, revision uint64, err error) {
	r, err := b.Get(ctx, key)
	if err != nil {
		return v, 0, err
	}
	v, err = parse[T](r)
	return v, r.Revision, err
}

func parse[T any](r Record) (v T, err error) {
	if err = json.Unmarshal(r.Value, &v); err != nil {
		err = fmt.Errorf("the record %s is damaged: %w", r.Key, err)
	}
	return v, err
}

// write puts a value that was read at a revision.
func write(ctx context.Context, b Book, key string, v any, revision uint64) (uint64, error) {
	raw, err := jsontext.Marshal(v)
	if err != nil {
		return 0, err
	}
	return b.Put(ctx, key, raw, revision)
}

// errSame ends change without a change.
var errSame = errors.New("nothing is to be changed")

// change reads a value, has it changed and puts it, again until nobody else was in between. A value
// that is not there is the zero one.
func change[T any](ctx context.Context, b Book, key string, how func(*T) error) error {
	for {
		v, revision, err := read[T](ctx, b, key)
		if err != nil && !errors.Is(err, ErrNone) {
			return err
		}
		if err := how(&v); err != nil {
			if errors.Is(err, errSame) {
				return nil
			}
			return err
		}
		if _, err = write(ctx, b, key, v, revision); !errors.Is(err, ErrStale) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// cancel is what stands in the book of cancels, under the id of a run or of a batch.
type cancel struct {
	Round int       `json:"round"` // it and those before it
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
}

// pause is what stands in the book of pauses, under the key that a provider knows a worker by.
type pause struct {
	Until time.Time `json:"until"`
	Why   string    `json:"why"`
}

// purse is the money of a batch, by run.
type purse struct{ batch.Money }

// move takes a run out of those that run, and returns what it has cost so far. Its record may be
// behind, of a worker that was lost.
func (p *purse) move(r Run) float64 {
	so := max(p.Now[r.ID], r.soFar())
	delete(p.Now, r.ID)
	return so
}
