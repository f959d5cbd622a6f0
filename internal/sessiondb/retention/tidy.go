package retention

import (
	"context"
	"errors"
	"slices"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
)

// Kept is the tag of sessions no rule removes.
const Kept = "keep"

// Rules limit the age and number of sessions. 0 means no limit.
type Rules struct {
	Age   time.Duration // since their last use
	Count int           // without subagents' sessions
}

// Any reports whether there is a rule.
func (r Rules) Any() bool { return r.Age > 0 || r.Count > 0 }

// Old reports whether a session last used at a time is too old.
func (r Rules) Old(used, now time.Time) bool { return r.Age > 0 && now.Sub(used) > r.Age }

// Expired returns the sessions to remove, the longest unused first.
func (r Rules) Expired(heads []session.Head, now time.Time) (out []session.ID) {
	n := 0
	for _, h := range heads { // last used first
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

// Tidy removes expired sessions one at a time, so writers wait for one at most, until ctx ends. The
// next Tidy does the rest. Open or tagged sessions stay. It does not rewrite the database: its free
// pages, which were overwritten, are reused.
func (r DataPlaces) Tidy(ctx context.Context, rules Rules, now time.Time) (done Done, err error) {
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

// each removes the sessions nobody has open.
func (r DataPlaces) each(ctx context.Context, ids []session.ID, done *Done) error {
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
