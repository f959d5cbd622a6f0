// Package natsstore keeps the logs of sessions in NATS JetStream, so that a worker on any machine
// goes on where another one stopped.
//
// A session is a subject of the stream ADZE_LOG, and an append is one message: its entries with the
// hash chain of package store, and in its headers what a list shows. Data over 256 KiB lies in the
// object store under its SHA-256.
//
// The one rule: an append names the sequence of the message that it must follow, so that whoever
// has not seen the whole log cannot write; and it returns nil only when the leader acknowledged, or
// was seen to have stored, that very message. A lease says beforehand who writes. It is a courtesy:
// the sequence is the fence, and taking a session over from another writer puts an attempt entry
// in, from which moment on every append of that one fails.
//
// Start reading at Open, then Append (append.go). resolve.go finds out what became of an append
// without an answer, load.go reads and verifies, list.go lists, message.go is what a message looks
// like.
//
// Known limits: what is durable is up to the servers (natsclient.Durability tells what could be
// proven). Who may publish to the stream may also forge: the chain shows changes, not forgery by a
// writer. Contents that no entry names, left by a failed append or a removal, stay until they are
// swept. Names and tags of sessions, which the SQLite store has, are not kept here. No single
// message can be deleted: a log is removed as a whole (remove.go), by whom the server lets purge
// the stream.
package natsstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/session"
)

// Names on the server.
const (
	streamName = "ADZE_LOG"
	prefix     = "adze.log."
)

// AttemptEntry is put into a log by a writer that takes it over from another one: its data is
// {"host","pid"}. Readers skip it.
const AttemptEntry session.EntryType = "attempt"

// Options change what Open uses; the zero value is right outside tests.
type Options struct {
	// Mask takes secrets out of an entry before it is sent; if nil, entries are stored as they come.
	Mask func(session.ID, session.Entry) session.Entry
	// Lost is called once for each session whose lease is lost while this store writes it; if nil,
	// nobody is told. It must not block.
	Lost  func(session.ID, error)
	Times natsclient.LeaseTimes // if 0, those of the connection
	Wait  time.Duration         // how long the answer to an append is looked for; if 0, 15 s
}

// Store implements session.Store. It is safe for concurrent use.
type Store struct {
	conn    *natsclient.Conn
	own     bool // the connection ends with the store
	options Options
	log     jetstream.Stream
	leases  *natsclient.Leases
	done    chan struct{}

	mu      sync.Mutex // guards what follows
	closed  bool
	writers map[session.ID]*writer

	opening sync.Mutex        // guards blobs
	blobs   *natsclient.Blobs // if nil, nothing large was written or read yet
}

var _ session.Store = (*Store)(nil)

// defaultWait is twice as long as the longest silence that a killed leader was seen to leave.
const defaultWait = 15 * time.Second

// Open gives the store on the servers of a connection, which it closes in the end where own says
// so. The stream and the buckets are made when they are missing.
func Open(ctx context.Context, conn *natsclient.Conn, own bool, o Options) (*Store, error) {
	s := &Store{conn: conn, own: own, options: o, done: make(chan struct{}), writers: map[session.ID]*writer{}}
	if s.options.Wait == 0 {
		s.options.Wait = defaultWait
	}
	var err error
	s.log, err = conn.Stream(ctx, jetstream.StreamConfig{
		Name: streamName, Description: "logs of adze sessions", Subjects: []string{prefix + "*"},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, DenyDelete: true, AllowDirect: true,
	})
	if err == nil {
		s.leases, err = conn.Leases(ctx, o.Times)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	return s, nil
}

// Warning says what of the stream a user should know; if empty, nothing.
func (s *Store) Warning() string { return natsclient.Warn(s.log) }

// Durability is what could be proven of the servers.
func (s *Store) Durability(ctx context.Context) natsclient.Durability { return s.conn.Durability(ctx) }

// Lock makes this process the only writer of id until Close, or until its lease is lost.
func (s *Store) Lock(ctx context.Context, id session.ID) error {
	w, err := s.writer(ctx, id)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ready(ctx)
}

// Held is nil as long as the lease of id is good by the own clock: nothing may have an effect
// without it.
func (s *Store) Held(id session.ID) error {
	s.mu.Lock()
	w := s.writers[id]
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lease == nil {
		return nil
	}
	return w.lease.Held()
}

// Close gives back all leases. Calls after it fail with sessiondb.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.done)
	s.mu.Unlock()
	var errs []error
	for _, w := range s.writers { // nobody adds any more
		w.mu.Lock()
		if w.lease != nil {
			errs = append(errs, w.lease.Release(context.Background()))
		}
		w.mu.Unlock()
	}
	if s.own {
		s.conn.Close()
	}
	return errors.Join(errs...)
}

// large gives the store of large contents, which most sessions do not need.
func (s *Store) large(ctx context.Context) (*natsclient.Blobs, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	var err error
	if s.blobs == nil {
		s.blobs, err = s.conn.Blobs(ctx)
	}
	return s.blobs, err
}

func (s *Store) usable(id session.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return sessiondb.ErrClosed
	}
	if id == "" {
		return errors.New("a session needs an id")
	}
	return nil
}

// subject is where the messages of a session are.
func subject(id session.ID) string { return prefix + natsclient.Token(string(id)) }
