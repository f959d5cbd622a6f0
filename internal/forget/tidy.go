package forget

import (
	"context"
	"errors"
	"slices"
	"time"

	"adze/internal/store"
	"adze/session"
)

// Kept is the tag of sessions that no rule lets go.
const Kept = "keep"

// Rules say how long sessions stay; what is 0 counts nothing.
type Rules struct {
	Age   time.Duration // since they were last used
	Count int           // so many, those of subagents not counted
	Bytes int64         // of the store, without its free parts
}

// Any reports whether there is a rule.
func (r Rules) Any() bool { return r.Age > 0 || r.Count > 0 || r.Bytes > 0 }

// Expired lists what the rules let go, the longest unused first, but for their count of bytes, which is known when others
// are gone.
func (r Rules) Expired(heads []session.Head, now time.Time) (out []session.ID) {
	n := 0
	for _, h := range heads { // the last used first
		if h.Info().Agent != "" {
			continue
		}
		n++
		old := r.Age > 0 && now.Sub(h.Updated) > r.Age
		if (old || r.Count > 0 && n > r.Count) && !slices.Contains(h.Tags, Kept) {
			out = append(out, h.ID)
		}
	}
	slices.Reverse(out)
	return out
}

// Tidy lets go what the rules say, one session after the other, so that who writes waits for one at most. What is open or
// tagged stays.
func (r Room) Tidy(ctx context.Context, rules Rules, now time.Time) (done Done, err error) {
	heads, err := r.Store.List(ctx)
	if err != nil {
		return done, err
	}
	expired := rules.Expired(heads, now)
	for _, id := range expired {
		if err := r.one(ctx, id, &done); err != nil {
			return done, err
		}
	}
	if rules.Bytes == 0 {
		return done, nil
	}
	for _, h := range slices.Backward(heads) {
		used, _, err := r.Store.Owner().Size(ctx)
		if err != nil || used <= rules.Bytes {
			return done, err
		}
		if h.Info().Agent == "" && !slices.Contains(h.Tags, Kept) && !slices.Contains(expired, h.ID) {
			if err := r.one(ctx, h.ID, &done); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// one lets a session go that nobody has open.
func (r Room) one(ctx context.Context, id session.ID, done *Done) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := r.Sessions(ctx, store.ByRule, id)
	if errors.Is(err, session.ErrLocked) || errors.Is(err, session.ErrNotFound) {
		return nil
	}
	done.Removed, done.Remains = append(done.Removed, d.Removed...), d.Remains
	return err
}
