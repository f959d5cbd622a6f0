package natsstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/session"
)

func bad(id session.ID, seq int64, why string) error {
	return fmt.Errorf("%w: %w", sessiondb.ErrDamaged, &sessiondb.BadRow{Session: id, Seq: seq, Why: why})
}

func (s *Store) lostBlob(id session.ID, seq int64, b *blob, err error) error {
	if errors.Is(err, natsclient.ErrNone) || errors.Is(err, natsclient.ErrDamaged) {
		return bad(id, seq, "names a text of "+strconv.Itoa(b.Size)+" bytes that is missing or was changed")
	}
	return fmt.Errorf("session %s: entry %d: %w", id, seq, err)
}

// Load returns all entries of id, oldest first, up to the last one that the leader has. A log that
// does not fit its chain, or of which a part is missing, is sessiondb.ErrDamaged, and its error a
// *sessiondb.BadRow: it is never a shorter log.
func (s *Store) Load(ctx context.Context, id session.ID) ([]session.Entry, error) {
	entries, err := s.read(ctx, id)
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// Verify returns how many entries of id are sound. Its error wraps a *sessiondb.BadRow for the
// first one that is not, or session.ErrNotFound.
func (s *Store) Verify(ctx context.Context, id session.ID) (int, error) {
	entries, err := s.read(ctx, id)
	return len(entries), err
}

// read gives the sound entries before an error, too. Where a leader is lost meanwhile it begins
// again.
func (s *Store) read(ctx context.Context, id session.ID) (out []session.Entry, err error) {
	err = s.whole(ctx, func() error {
		out, err = s.readOnce(ctx, id)
		return err
	})
	return out, err
}

// whole reads again from the start, as long as an answer to an append is waited for, and at least
// twice, when it broke off because a server was lost.
func (s *Store) whole(ctx context.Context, read func() error) error {
	until := time.Now().Add(s.options.Wait)
	for tries := 1; ; tries++ {
		err := read()
		if err == nil || !broke(err) || tries > 1 && time.Now().After(until) || !s.pause(ctx) {
			return err
		}
	}
}

// errBehind says that what the server that leads has did not come from the one that reads.
var errBehind = errors.New("nothing more came")

// broke reports whether another try may read to the end. A consumer lives on one server, and goes
// with it.
func broke(err error) bool {
	for _, e := range []error{errBehind, jetstream.ErrNoHeartbeat, jetstream.ErrOrderedConsumerReset, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDeleted,
		jetstream.ErrServerShutdown, jetstream.ErrOrderedConsumerNotCreated, jetstream.ErrConsumerLeadershipChanged} {
		if errors.Is(err, e) {
			return true
		}
	}
	return natsclient.Passing(err) || errors.Is(err, natsclient.ErrUnreachable)
}

func (s *Store) readOnce(ctx context.Context, id session.ID) (out []session.Entry, err error) {
	if err := s.usable(id); err != nil {
		if id == "" {
			return nil, fmt.Errorf("%w: %q", session.ErrNotFound, id)
		}
		return nil, err
	}
	last, err := s.last(ctx, id)
	if err != nil {
		return nil, err
	}
	if last == nil {
		return nil, fmt.Errorf("%w: %q", session.ErrNotFound, id)
	}
	var end tip
	err = s.each(ctx, last.Sequence, jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject(id)}}, func(m jetstream.Msg, at *jetstream.MsgMetadata) (bool, error) {
		if at.Sequence.Stream > last.Sequence {
			return false, nil // it was not there when the end was looked at
		}
		entries, err := s.decode(ctx, id, &end, m.Data())
		out = append(out, entries...)
		end.sequence = at.Sequence.Stream
		return err == nil && end.sequence < last.Sequence, err
	})
	if errors.Is(err, errBehind) {
		return out, fmt.Errorf("%w: %w", bad(id, end.entries+1, "is missing"), err)
	}
	if err != nil {
		return out, err
	}
	want, err := tipOf(last.Sequence, last.Header)
	switch {
	case err != nil:
		return out, fmt.Errorf("session %s: %w", id, err)
	case end.sequence != last.Sequence, end.entries < want.entries:
		return out, bad(id, end.entries+1, "is missing")
	case end.entries > want.entries || !bytes.Equal(end.hash, want.hash):
		return out, bad(id, end.entries, "is not the last one that was written")
	}
	return out, nil
}

// silence is how long a server may say nothing while a log is read; twice as long, and the reader
// asks for its consumer anew. One whose leader is another server is sometimes asked before that one
// can be heard: with the client's own 5 s this was a wait of 10 s.
const silence = time.Second

// each hands over messages until it is told to stop, or there are no more: not before the one of
// sequence last was seen, or one behind it, for the server that reads may be behind the one that
// leads. It has as long to catch up as an append has for its answer; what does not come by then is
// not there.
func (s *Store) each(ctx context.Context, last uint64, c jetstream.OrderedConsumerConfig, take func(jetstream.Msg, *jetstream.MsgMetadata) (more bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, loadTakes)
	defer cancel()
	consumer, err := s.log.OrderedConsumer(ctx, c)
	if err != nil {
		return fmt.Errorf("%s could not be read: %w", s.conn.URL(), s.conn.Away(err))
	}
	if info := consumer.CachedInfo(); info != nil {
		defer func() {
			end, done := context.WithTimeout(context.WithoutCancel(ctx), oneTry)
			defer done()
			_ = s.log.DeleteConsumer(end, consumer.CachedInfo().Name) // it ends by itself, too
		}()
	}
	messages, err := consumer.Messages(jetstream.PullHeartbeat(silence))
	if err != nil {
		return fmt.Errorf("%s could not be read: %w", s.conn.URL(), s.conn.Away(err))
	}
	defer messages.Stop()
	for {
		next, done := context.WithTimeout(ctx, s.options.Wait)
		m, err := messages.Next(jetstream.NextContext(next))
		late := next.Err() != nil && ctx.Err() == nil
		done()
		if err != nil && late {
			return fmt.Errorf("%w within %v", errBehind, s.options.Wait)
		}
		if err != nil {
			return fmt.Errorf("%s could not be read to the end: %w", s.conn.URL(), s.conn.Away(err))
		}
		at, err := m.Metadata()
		if err != nil {
			return err
		}
		more, err := take(m, at)
		if err != nil || !more || at.NumPending == 0 && at.Sequence.Stream >= last {
			return err
		}
	}
}
