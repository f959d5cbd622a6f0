package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Server is a connection to the servers of a fleet, which is made again whenever it breaks. It is
// safe for concurrent use.
type Server struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	options Options

	tasks                              jetstream.Stream
	batches, results, cancels, workers jetstream.KeyValue
	files                              jetstream.ObjectStore
}

// kept is how long the server keeps what is over; presenceTTL how long a worker is there without a
// word.
const (
	kept        = 30 * 24 * time.Hour
	presenceTTL = 30 * time.Second
)

// Connect connects, and makes the streams and buckets that are missing. Its errors wrap
// ErrAddress, ErrAway, ErrRefused or ErrStream.
func Connect(ctx context.Context, o Options) (*Server, error) {
	nc, err := dial(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &Server{nc: nc, options: o}
	if s.js, err = jetstream.New(nc); err == nil {
		err = s.patiently(ctx, s.open)
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	return s, nil
}

// URL is the address of the servers.
func (s *Server) URL() string { return s.options.URL }

// Close ends the connection.
func (s *Server) Close() {
	_ = s.nc.FlushTimeout(time.Second) // acknowledgements; without them a task is taken again, and has a result
	s.nc.Close()
}

// open finds or makes the streams and buckets.
func (s *Server) open(ctx context.Context) (err error) {
	replicas := 1
	if s.nc.ConnectedClusterName() != "" {
		replicas = 3
	}
	if s.tasks, err = s.stream(ctx, jetstream.StreamConfig{Name: "ADZE_TASKS", Subjects: []string{"adze.tasks.>"}, Retention: jetstream.WorkQueuePolicy, Replicas: replicas,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1}); err != nil {
		return err
	}
	if s.tasks.CachedInfo().Config.Retention != jetstream.WorkQueuePolicy {
		return fmt.Errorf("%w: the stream ADZE_TASKS on %s is no work queue; its owner can delete it", ErrStream, s.options.URL)
	}
	if _, err = s.stream(ctx, jetstream.StreamConfig{Name: "ADZE_DEAD", Subjects: []string{"adze.dead.>"}, Replicas: replicas, MaxAge: kept}); err != nil {
		return err
	}
	for _, b := range []struct {
		to   *jetstream.KeyValue
		name string
		ttl  time.Duration
	}{{&s.batches, "ADZE_BATCHES", kept}, {&s.results, "ADZE_RESULTS", kept}, {&s.cancels, "ADZE_CANCEL", kept}, {&s.workers, "ADZE_WORKERS", presenceTTL}} {
		*b.to, err = s.js.KeyValue(ctx, b.name)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			*b.to, err = s.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: b.name, TTL: b.ttl, Replicas: replicas})
		}
		if err != nil {
			return fmt.Errorf("bucket %s: %w", b.name, err)
		}
	}
	s.files, err = s.js.ObjectStore(ctx, "ADZE_FILES")
	if errors.Is(err, jetstream.ErrBucketNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		s.files, err = s.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "ADZE_FILES", TTL: kept, Replicas: replicas})
	}
	return err
}

// stream finds a stream, or makes it.
func (s *Server) stream(ctx context.Context, c jetstream.StreamConfig) (jetstream.Stream, error) {
	stream, err := s.js.Stream(ctx, c.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		stream, err = s.js.CreateStream(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", c.Name, err)
	}
	return stream, nil
}

// watch calls on with each value of a bucket below a key, and with each new one, until on returns
// false or ctx ends. It asks for all values again each period, so that what a lost connection
// swallowed is seen then: on is called with a value more than once. The first round ends with a
// nil entry.
func (s *Server) watch(ctx context.Context, kv jetstream.KeyValue, keys string, period time.Duration, on func(jetstream.KeyValueEntry) bool) error {
	for {
		w, cancel, err := s.watcher(ctx, kv, keys)
		if err != nil {
			return err
		}
		again := time.NewTimer(period)
		open := true
		for open {
			select {
			case <-ctx.Done():
				cancel()
				again.Stop()
				return context.Cause(ctx)
			case <-again.C:
				open = false
			case e, ok := <-w.Updates():
				if open = ok; ok && !on(e) {
					cancel()
					again.Stop()
					return nil
				}
			}
		}
		again.Stop()
		cancel() // another one follows
	}
}

// watcher begins to watch. The client's own call waits as long as its context lives for an answer
// that was lost with a server, and the watcher ends with that context.
func (s *Server) watcher(ctx context.Context, kv jetstream.KeyValue, keys string) (w jetstream.KeyWatcher, cancel func(), err error) {
	err = s.patiently(ctx, func(try context.Context) (err error) {
		var watching context.Context
		watching, cancel = context.WithCancel(ctx)
		stop := context.AfterFunc(try, cancel)
		if w, err = kv.Watch(watching, keys, jetstream.IgnoreDeletes()); err == nil && !stop() {
			err = context.DeadlineExceeded
		}
		if err == nil {
			return nil
		}
		cancel()
		return cmp.Or(try.Err(), err)
	})
	return w, cancel, err
}
