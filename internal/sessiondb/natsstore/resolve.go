package natsstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/session"
)

// oneTry bounds how long one answer is waited for.
const oneTry = 2 * time.Second

// publish sends a message that goes behind last, and finds out whether it did. The error wraps
// session.ErrLocked when somebody else wrote, sessiondb.ErrNotSaved when nobody could be asked in
// time; any other says that the server refused it and the log is as it was.
func (s *Store) publish(ctx context.Context, last tip, m *nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Wait)
	defer cancel()
	m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(last.sequence, 10))
	for {
		sequence, err := s.send(ctx, m)
		if err == nil || !natsclient.Passing(err) && !natsclient.Conflict(err) {
			return sequence, s.refused(err)
		}
		sequence, again, looked := s.resolve(ctx, last, m)
		if looked == nil && !again {
			return sequence, nil
		}
		if errors.Is(looked, session.ErrLocked) {
			return 0, looked
		}
		if !s.pause(ctx) {
			return 0, fmt.Errorf("%w: no answer within %v: %w", sessiondb.ErrNotSaved, s.options.Wait, errors.Join(err, looked))
		}
	}
}

// send asks once.
func (s *Store) send(ctx context.Context, m *nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	ack, err := s.conn.JetStream().PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// refused says what an answer means that is final.
func (s *Store) refused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("nothing was saved: the message is larger than the servers of %s take; raise max_payload there: %w", s.conn.URL(), err)
	case natsclient.Full(err):
		return fmt.Errorf("nothing was saved: %w: the stream %s on %s; raise its limits or make room, then go on: %w", natsclient.ErrFull, streamName, s.conn.URL(), err)
	}
	return fmt.Errorf("nothing was saved by %s: %w", s.conn.URL(), err)
}

// resolve looks at the last message: it is the one that was sent, or the one before it (then again
// is true), or another writer's. The servers differ in what they answer to a second try, so the log
// itself is what counts.
func (s *Store) resolve(ctx context.Context, before tip, sent *nats.Msg) (sequence uint64, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	last, err := s.conn.Last(ctx, streamName, sent.Subject)
	switch {
	case errors.Is(err, natsclient.ErrNone) && before.sequence == 0, err == nil && last.Sequence == before.sequence:
		return 0, true, nil
	case errors.Is(err, natsclient.ErrNone):
		return 0, false, fmt.Errorf("%w: its log is gone from the server", session.ErrLocked)
	case err != nil:
		return 0, false, err
	}
	for _, name := range []string{headerHash, headerEntries, headerHolder} {
		if last.Header.Get(name) != sent.Header.Get(name) {
			return 0, false, fmt.Errorf("%w: another one has written to it meanwhile", session.ErrLocked)
		}
	}
	return last.Sequence, false, nil
}

// last is the last message of a session, looked for as long as an answer to an append is; if nil,
// there is none.
func (s *Store) last(ctx context.Context, id session.ID) (*jetstream.RawStreamMsg, error) {
	last, err := s.lastOf(ctx, subject(id))
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", id, err)
	}
	return last, nil
}

func (s *Store) lastOf(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, s.options.Wait)
	defer cancel()
	for {
		try, done := context.WithTimeout(ctx, oneTry)
		last, err := s.conn.Last(try, streamName, subject)
		done()
		switch {
		case errors.Is(err, natsclient.ErrNone):
			return nil, nil
		case err == nil:
			return last, nil
		case !natsclient.Passing(err) || !s.pause(ctx):
			return nil, fmt.Errorf("%s could not be asked for the end of %s within %v: %w", s.conn.URL(), streamName, s.options.Wait, s.conn.Away(err))
		}
	}
}

// pause waits a moment; if false, ctx or the store ended.
func (s *Store) pause(ctx context.Context) bool {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-s.done:
	case <-t.C:
		return true
	}
	return false
}
