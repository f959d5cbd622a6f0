package natsstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/session"
)

// loadTakes bounds how long a log, or a list, is read.
const loadTakes = 2 * time.Minute

// List returns the sessions, last used first. Long strings in Head.Start and Head.First are cut. It
// reads the headers of one message a session: what the logs say themselves is verified by Load.
func (s *Store) List(ctx context.Context) ([]session.Head, error) {
	if err := s.usable("any"); err != nil {
		return nil, err
	}
	var heads []session.Head
	err := s.whole(ctx, func() (err error) {
		heads, err = s.list(ctx)
		return err
	})
	return heads, err
}

func (s *Store) list(ctx context.Context) ([]session.Head, error) {
	last, err := s.lastOf(ctx, prefix+"*")
	if err != nil || last == nil {
		return nil, err
	}
	heads := map[session.ID]session.Head{}
	order := map[session.ID]uint64{}
	all := jetstream.OrderedConsumerConfig{FilterSubjects: []string{prefix + "*"}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true}
	err = s.each(ctx, last.Sequence, all, func(m jetstream.Msg, at *jetstream.MsgMetadata) (bool, error) {
		name, err := natsclient.Text(strings.TrimPrefix(m.Subject(), prefix))
		if err != nil {
			return true, nil // a subject of somebody else's
		}
		t, _ := tipOf(at.Sequence.Stream, m.Headers()) // of a damaged one is shown that it is there
		id := session.ID(name)
		heads[id] = session.Head{ID: id, Created: sessiondb.FromNanos(t.created), Updated: sessiondb.FromNanos(t.updated), Entries: int(t.entries), Start: t.start, First: t.first}
		order[id] = t.sequence
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]session.Head, 0, len(heads))
	for _, h := range heads {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b session.Head) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(order[b.ID], order[a.ID]))
	})
	return out, nil
}
