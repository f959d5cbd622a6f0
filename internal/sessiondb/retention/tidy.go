package retention

import (
	"context"
	"errors"
	"slices"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
)

// Kept is the tag of sessions that no rule lets go.
const Kept = "keep"

// Rules say how long sessions stay; what is 0 counts nothing.
type Rules struct {
	Age   time.Duration // since they were last used
	Count int           // so many, those of subagents not counted
}

// Any reports whether there is a rule.
func (r Rules) Any() bool { return r.Age > 0 || r.Count > 0 }

// Old reports what was used last at a time so long ago that it goes.
func (r Rules) Old(used, now time.Time) bool { return r.Age > 0 && now.Sub(used) > r.Age }

// Expired lists what the rules let go, the longest unused first.
func (r Rules) Expired(heads []session.Head, now time.Time) (out []session.ID) {
	n := 0
	for _, h := range heads { // the last used first
		if h.Info().Agent != "" {
			continue
		}
		n++
		if (r.Old(h.Updated, now) || r.Count > 0 && n > r.Count) && !slices.Contains(h.Tags, Kept) {
			out = append(out, h.ID)
		}
	}
	slices.Reverse(out)
	return out
}

// Tidy lets go what the rules say, one session after the other, so that who writes waits for one at
// most, until ctx ends: the rest is for the next time. What is open or tagged stays. The database
// is not written anew: its free parts, which were overwritten, take what comes next.
func (r Room) Tidy(ctx context.Context, rules Rules, now time.Time) (done Done, err error) {
	if !rules.Any() {
		return done, nil
	}
	heads, err := r.Store.List(ctx)
	if err != nil {
		return done, err
	}
	err = r.each(ctx, rules.Expired(heads, now), &done)
	r.cleanWords(ctx, &done)
	return done, err
}

// each lets sessions go that nobody has open.
func (r Room) each(ctx context.Context, ids []session.ID, done *Done) error {
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil
		}
		err := r.drop(ctx, sessiondb.ByRule, done, id)
		if err != nil && !errors.Is(err, session.ErrLocked) && !errors.Is(err, session.ErrNotFound) {
			return err
		}
	}
	return nil
}
