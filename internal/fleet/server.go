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

// A Server is a connection to a fleet's servers, which reconnects when it breaks. It is safe for
// concurrent use.
type Server struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	options Options

	tasks                              jetstream.Stream
	batches, results, cancels, workers jetstream.KeyValue
	files                              jetstream.ObjectStore
}

// batchRetention is the time until the server deletes finished batches; presenceTTL is the time
// until a silent worker counts as gone.
const (
	batchRetention = 30 * 24 * time.Hour
	presenceTTL    = 30 * time.Second
)

// Connect connects and creates missing streams and buckets. Its errors wrap ErrAddress, ErrAway,
// ErrRefused or ErrStream.
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

// URL returns the servers' address.
func (s *Server) URL() string { return s.options.URL }

// Close ends the connection.
func (s *Server) Close() {
	_ = s.nc.FlushTimeout(time.Second) // acknowledgements; a task whose is lost is taken again, and already has a result
	s.nc.Close()
}

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
	if _, err = s.stream(ctx, jetstream.StreamConfig{Name: "ADZE_DEAD", Subjects: []string{"adze.dead.>"}, Replicas: replicas, MaxAge: batchRetention}); err != nil {
		return err
	}
	for _, b := range []struct {
		to   *jetstream.KeyValue
		name string
		ttl  time.Duration
	}{{&s.batches, "ADZE_BATCHES", batchRetention}, {&s.results, "ADZE_RESULTS", batchRetention}, {&s.cancels, "ADZE_CANCEL", batchRetention}, {&s.workers, "ADZE_WORKERS", presenceTTL}} {
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
		s.files, err = s.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "ADZE_FILES", TTL: batchRetention, Replicas: replicas})
	}
	return err
}

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

// watch calls on for each current and new value of a bucket whose key matches, until on returns
// false or ctx ends. It reads all values again every period to catch those missed by a lost
// connection, so on may get a value more than once. A nil entry ends the first round.
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

// watcher starts a watch. The client's own call would wait for a lost response until its context
// ends, and the watcher ends with that context too.
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
