package retention

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/fleet"
	"adze/internal/sessiondb"
	"adze/session"
)

// Server is where batches are, and the sessions of all who keep theirs there.
type Server struct {
	Runs fleet.Cluster
	Logs Logs
}

// Logs are the sessions of a server. Contract:
//   - Remove of one that is open is session.ErrLocked, of one that is not there
//     session.ErrNotFound;
//   - Named tells which of the large contents the logs name.
type Logs interface {
	List(ctx context.Context) ([]session.Head, error)
	Remove(ctx context.Context, id session.ID, why string) (sessiondb.Removed, error)
	Named(ctx context.Context) (map[string]bool, error)
}

// Gone is what went from a server.
type Gone struct {
	Batches  []string
	Sessions []sessiondb.Removed
	Contents int // patches, long tasks, and what logs kept apart
	names    []string
}

// Batch removes a batch that is over with the sessions of its runs and those of their subagents.
// One with a run that is not over is fleet.ErrRuns. A removal that was cut off can be done again.
func (s Server) Batch(ctx context.Context, id, why string, gone *Gone) error {
	runs, err := s.Runs.Over(ctx, id)
	if err != nil {
		return err
	}
	var ids []session.ID
	for _, r := range runs {
		ids = append(ids, r.Sessions()...)
	}
	heads, err := s.Logs.List(ctx)
	if err != nil {
		return err
	}
	if err := s.sessions(ctx, Family(heads, ids...), why, gone); err != nil {
		return err
	}
	if err := s.Runs.Delete(ctx, id, runs); err != nil {
		return err
	}
	gone.Batches = append(gone.Batches, id)
	for _, r := range runs {
		gone.names = append(gone.names, r.Contents()...)
	}
	return nil
}

// Family lists sessions of a list with those of their subagents, at any depth.
func Family(heads []session.Head, ids ...session.ID) (out []session.ID) {
	of := map[session.ID]bool{}
	for _, id := range ids {
		of[id] = true
	}
	for more := true; more; {
		more = false
		for _, h := range heads {
			info := h.Info()
			if info.Agent != "" && of[info.Parent] && !of[h.ID] {
				of[h.ID], more = true, true
			}
		}
	}
	for _, h := range heads {
		if of[h.ID] {
			out = append(out, h.ID)
		}
	}
	return out
}

func (s Server) sessions(ctx context.Context, ids []session.ID, why string, gone *Gone) error {
	for _, id := range ids {
		removed, err := s.Logs.Remove(ctx, id, why)
		if errors.Is(err, session.ErrNotFound) { // somebody else removes it, too
			continue
		}
		if err != nil {
			return err
		}
		gone.Sessions = append(gone.Sessions, removed)
	}
	return nil
}

// Sessions removes sessions by hand, with those of their subagents.
func (s Server) Sessions(ctx context.Context, gone *Gone, ids ...session.ID) error {
	heads, err := s.Logs.List(ctx)
	if err != nil {
		return err
	}
	return s.sessions(ctx, Family(heads, ids...), sessiondb.ByHand, gone)
}

// Expire lets go what the age of the rules lets go: batches that are over, sessions that nobody has
// open and that belong to no batch that stays, and contents that nothing names any more.
func (s Server) Expire(ctx context.Context, rules Rules, now time.Time) (gone Gone, err error) {
	if rules.Age <= 0 {
		return gone, nil
	}
	old := func(t time.Time) bool { return rules.Old(t, now) }
	batches, err := s.Runs.Expired(ctx, old)
	if err != nil {
		return gone, err
	}
	for _, id := range batches {
		if err := s.Batch(ctx, id, sessiondb.ByRule, &gone); err != nil && !errors.Is(err, fleet.ErrRuns) && !errors.Is(err, session.ErrLocked) {
			return gone, fmt.Errorf("batch %s: %w", id, err)
		}
	}
	if err := s.expireSessions(ctx, old, &gone); err != nil {
		return gone, err
	}
	return gone, s.Contents(ctx, func(_ string, kept time.Time) bool { return old(kept) }, &gone)
}

func (s Server) expireSessions(ctx context.Context, old func(time.Time) bool, gone *Gone) error {
	runs, err := s.Runs.List(ctx, "")
	if err != nil {
		return err
	}
	var ofRuns, expired []session.ID
	for _, r := range runs {
		ofRuns = append(ofRuns, r.Sessions()...)
	}
	heads, err := s.Logs.List(ctx)
	if err != nil {
		return err
	}
	for _, h := range heads {
		if h.Info().Agent == "" && old(h.Updated) && !slices.Contains(ofRuns, h.ID) {
			expired = append(expired, h.ID)
		}
	}
	for _, id := range Family(heads, expired...) {
		err := s.sessions(ctx, []session.ID{id}, sessiondb.ByRule, gone)
		if err != nil && !errors.Is(err, session.ErrLocked) { // it is open
			return err
		}
	}
	return nil
}

// justKept is how long a content may not be named by anything yet.
const justKept = time.Hour

// Unnamed removes what batches that went have named, and what nothing names for a while.
func (s Server) Unnamed(ctx context.Context, now time.Time, gone *Gone) error {
	return s.Contents(ctx, func(name string, kept time.Time) bool {
		return slices.Contains(gone.names, name) || now.Sub(kept) > justKept
	}, gone)
}

// Contents removes contents that are old and that neither a run nor a log names.
func (s Server) Contents(ctx context.Context, old func(name string, kept time.Time) bool, gone *Gone) error {
	named := func() (map[string]bool, error) {
		names, err := s.Logs.Named(ctx)
		if err != nil {
			return nil, err
		}
		runs, err := s.Runs.List(ctx, "")
		for _, r := range runs {
			for _, name := range r.Contents() {
				names[name] = true
			}
		}
		return names, err
	}
	for _, blobs := range []fleet.Blobs{s.Runs.Blobs, s.Runs.Inputs} {
		n, err := blobs.Sweep(ctx, old, named)
		gone.Contents += n
		if err != nil {
			return err
		}
	}
	return nil
}
