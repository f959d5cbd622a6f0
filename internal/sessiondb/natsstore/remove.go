package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/session"
)

// goneBucket has a tombstone of each session that was removed, for a year.
const (
	goneBucket = "ADZE_GONE"
	goneFor    = 365 * 24 * time.Hour
)

// Remove removes the log of a session for ever. Why is sessiondb.ByHand or sessiondb.ByRule. One
// that is open is session.ErrLocked, one that is not there session.ErrNotFound. A removal that was
// cut off can be done again. What the log named among the large contents goes when they are swept.
func (s *Store) Remove(ctx context.Context, id session.ID, why string) (sessiondb.Removed, error) {
	if err := s.usable(id); err != nil {
		return sessiondb.Removed{}, err
	}
	s.mu.Lock()
	own := s.writers[id]
	s.mu.Unlock()
	if own != nil {
		return sessiondb.Removed{}, fmt.Errorf("%w: by this process", session.ErrLocked)
	}
	last, err := s.last(ctx, id)
	if err != nil {
		return sessiondb.Removed{}, err
	}
	if last == nil {
		return sessiondb.Removed{}, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	lease, err := s.leases.Hold(ctx, string(id))
	if errors.Is(err, natsclient.ErrHeld) {
		return sessiondb.Removed{}, fmt.Errorf("%w: %w", session.ErrLocked, err)
	}
	if err != nil {
		return sessiondb.Removed{}, err
	}
	defer func() { _ = lease.Release(context.WithoutCancel(ctx)) }() // it ends by itself
	end, _ := tipOf(last.Sequence, last.Header)                      // a damaged log can be removed, too
	gone := sessiondb.Removed{ID: id, Time: time.Now().UTC(), Entries: int(end.entries), Why: why}
	if err := s.bury(ctx, gone); err != nil {
		return sessiondb.Removed{}, err
	}
	if err := s.conn.Purge(ctx, streamName, subject(id)); err != nil {
		return sessiondb.Removed{}, fmt.Errorf("session %s was not removed: %w", id, err)
	}
	return gone, nil
}

// bury writes a tombstone: that a session was there, and nothing of what was in it.
func (s *Store) bury(ctx context.Context, t sessiondb.Removed) error {
	bucket, err := s.conn.Bucket(ctx, jetstream.KeyValueConfig{Bucket: goneBucket, Description: "sessions that were removed", History: 1, TTL: goneFor})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(t)
	if err == nil {
		_, err = bucket.Put(ctx, natsclient.Token(string(t.ID)), raw)
	}
	return s.conn.Forbidden(err)
}

// Named returns the names of all large contents that logs name. It reads all of the stream.
func (s *Store) Named(ctx context.Context) (map[string]bool, error) {
	var names map[string]bool
	err := s.whole(ctx, func() error {
		names = map[string]bool{}
		last, err := s.lastOf(ctx, prefix+"*")
		if err != nil || last == nil {
			return err
		}
		return s.each(ctx, last.Sequence, jetstream.OrderedConsumerConfig{FilterSubjects: []string{prefix + "*"}}, func(m jetstream.Msg, at *jetstream.MsgMetadata) (bool, error) {
			var b body
			if err := json.Unmarshal(m.Data(), &b); err != nil {
				return false, fmt.Errorf("message %d of %s is damaged, so that nobody knows which contents it names: %w", at.Sequence.Stream, streamName, err)
			}
			for _, l := range b.Entries {
				if l.Blob != nil {
					names[l.Blob.SHA256] = true
				}
			}
			return at.Sequence.Stream < last.Sequence, nil
		})
	})
	return names, err
}
