package natsqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet"
	"adze/internal/fleet/natsclient"
)

// answerTakes bounds one request to the server, where the caller set no bound.
const answerTakes = 10 * time.Second

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, answerTakes)
}

type book struct {
	conn *natsclient.Conn
	kv   jetstream.KeyValue
	name string
}

func openBook(ctx context.Context, conn *natsclient.Conn, name string, lives time.Duration) (book, error) {
	kv, err := conn.Bucket(ctx, jetstream.KeyValueConfig{Bucket: name, History: 1, TTL: lives})
	return book{conn, kv, name}, err
}

func (b book) subject(key string) string { return "$KV." + b.name + "." + key }

// Get asks the leader.
func (b book) Get(ctx context.Context, key string) (fleet.Record, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	m, err := b.conn.Last(ctx, "KV_"+b.name, b.subject(key))
	if errors.Is(err, natsclient.ErrNone) {
		return fleet.Record{}, fmt.Errorf("%s: %w", key, fleet.ErrNone)
	}
	if err != nil {
		return fleet.Record{}, explain(b.conn, err)
	}
	return fleet.Record{Key: key, Value: m.Data, Revision: m.Sequence}, nil
}

// Put publishes behind the sequence that the record had.
func (b book) Put(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	ack, err := b.conn.JetStream().PublishMsg(ctx, &nats.Msg{Subject: b.subject(key), Data: value}, jetstream.WithExpectLastSequencePerSubject(revision))
	if natsclient.Conflict(err) {
		return 0, fmt.Errorf("%s: %w", key, fleet.ErrStale)
	}
	if err != nil {
		return 0, explain(b.conn, err)
	}
	return ack.Sequence, nil
}

// Delete purges the record's subject: the marker that a bucket's own way leaves would stay.
func (b book) Delete(ctx context.Context, key string) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	return explain(b.conn, b.conn.Purge(ctx, "KV_"+b.name, b.subject(key)))
}

// List reads until it has seen what the leader has last: another replica may be behind.
func (b book) List(ctx context.Context, prefix string) ([]fleet.Record, error) {
	asked, cancel := limited(ctx)
	last, err := b.conn.Last(asked, "KV_"+b.name, b.subject(prefix+">"))
	cancel()
	if errors.Is(err, natsclient.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(b.conn, err)
	}
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	changes, err := b.Watch(ctx, prefix)
	if err != nil {
		return nil, err
	}
	at, newest, caught := map[string]int{}, uint64(0), false
	var out []fleet.Record
	for !caught || newest < last.Sequence {
		r, open := <-changes
		switch {
		case !open:
			return nil, fmt.Errorf("the list of %s broke off", b.name)
		case r.Caught:
			caught = true
		default:
			newest = max(newest, r.Revision)
			if i, there := at[r.Key]; there {
				out[i] = r
				continue
			}
			at[r.Key] = len(out)
			out = append(out, r)
		}
	}
	return out, nil
}

// Watch goes on over broken connections.
func (b book) Watch(ctx context.Context, prefix string) (<-chan fleet.Record, error) {
	w, err := b.kv.Watch(ctx, prefix+">")
	if err != nil {
		return nil, explain(b.conn, err)
	}
	out := make(chan fleet.Record)
	go func() {
		defer close(out)
		defer func() { _ = w.Stop() }()
		for {
			var r fleet.Record
			select {
			case <-ctx.Done():
				return
			case e, open := <-w.Updates():
				if !open {
					return
				}
				if r = (fleet.Record{Caught: true}); e != nil {
					r = fleet.Record{Key: strings.TrimPrefix(e.Key(), "/"), Value: e.Value(), Revision: e.Revision()}
				}
			}
			select {
			case <-ctx.Done():
				return
			case out <- r:
			}
		}
	}()
	return out, nil
}
