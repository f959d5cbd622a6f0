package natsstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/session"
)

// writer is a session that this process may append to.
type writer struct {
	of *Store
	id session.ID

	mu    sync.Mutex        // one append at a time; guards what follows
	lease *natsclient.Lease // if nil, it was not taken yet
	end   tip
	lost  error // nothing is appended any more
}

// writer gives the writer of id, made on first use.
func (s *Store) writer(ctx context.Context, id session.ID) (*writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.usable(id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, sessiondb.ErrClosed
	}
	w := s.writers[id]
	if w == nil {
		w = &writer{of: s, id: id}
		s.writers[id] = w
	}
	return w, nil
}

// ready takes the lease and finds the end of the log, once. The caller holds w.mu.
func (w *writer) ready(ctx context.Context) error {
	if w.lost != nil {
		return w.lost
	}
	if w.lease != nil {
		return nil
	}
	lease, err := w.of.leases.Hold(ctx, string(w.id))
	if errors.Is(err, natsclient.ErrHeld) {
		return fmt.Errorf("%w: %w", session.ErrLocked, err)
	}
	if err != nil {
		return err
	}
	if err := w.resume(ctx); err != nil {
		return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
	}
	w.lease = lease
	go w.watch(lease)
	if err := w.fence(ctx); err != nil {
		w.lease = nil
		return errors.Join(err, lease.Release(context.WithoutCancel(ctx)))
	}
	return nil
}

// resume finds the end of the log, as the leader has it.
func (w *writer) resume(ctx context.Context) error {
	last, err := w.of.last(ctx, w.id)
	if err != nil || last == nil {
		w.end = tip{}
		return err
	}
	if w.end, err = tipOf(last.Sequence, last.Header); err != nil {
		return fmt.Errorf("session %s: %w", w.id, err)
	}
	return nil
}

// watch tells of the loss of a lease.
func (w *writer) watch(lease *natsclient.Lease) {
	select {
	case <-w.of.done:
	case <-lease.Lost():
		if w.of.options.Lost != nil {
			w.of.options.Lost(w.id, lease.Held())
		}
	}
}

// headerHolder names the lease under which a message was written.
const headerHolder = "Adze-Holder"

// fence moves the end of a log that another writer left behind: what that one may still send,
// having stood still, is refused from then on. One that closed its log as it should left its lease,
// and can send nothing: then the log is not touched.
func (w *writer) fence(ctx context.Context) error {
	if w.end.sequence == 0 || w.lease.Fresh() {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	data, err := json.Marshal(map[string]any{"host": host, "pid": os.Getpid()})
	if err != nil {
		return err
	}
	return w.save(ctx, []session.Entry{{Type: AttemptEntry, Time: w.lease.Holder().Since, Data: data}})
}

// Append adds all entries to id or none. When it returns nil the servers have them. An append on
// its way is not called off by ctx.
func (s *Store) Append(ctx context.Context, id session.ID, entries ...session.Entry) error {
	w, err := s.writer(ctx, id)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	if err := w.ready(ctx); err != nil {
		return err
	}
	if err := checkJSON(entries); err != nil || len(entries) == 0 {
		return err
	}
	if s.options.Mask != nil {
		masked := make([]session.Entry, len(entries))
		for i, e := range entries {
			masked[i] = s.options.Mask(id, e)
		}
		entries = masked
	}
	return w.save(ctx, entries)
}

// message makes next the end of a log. Its id has the server know it again when it comes twice.
func message(id session.ID, next tip, text []byte) *nats.Msg {
	m := &nats.Msg{Subject: subject(id), Data: text, Header: next.headers()}
	m.Header.Set(jetstream.MsgIDHeader, m.Header.Get(headerHash))
	return m
}

func checkJSON(entries []session.Entry) error {
	for i, e := range entries {
		if len(e.Data) > 0 && !json.Valid(e.Data) {
			return fmt.Errorf("entry %d of type %q is not JSON; nothing was saved", i+1, e.Type)
		}
	}
	return nil
}

// save sends one message and moves the end of the chain.
func (w *writer) save(ctx context.Context, entries []session.Entry) error {
	if err := w.lease.Held(); err != nil {
		return w.giveUp(fmt.Errorf("%w: %w", session.ErrLocked, err))
	}
	next, lines := w.end.follow(w.id, entries)
	text, err := w.of.encode(ctx, w.end.entries+1, lines)
	if err != nil {
		return err // nothing was sent
	}
	m := message(w.id, next, text)
	m.Header.Set(headerHolder, w.lease.Holder().Owner)
	next.sequence, err = w.of.publish(ctx, w.end, m)
	switch {
	case err == nil:
		w.end = next
		return nil
	case errors.Is(err, session.ErrLocked), errors.Is(err, sessiondb.ErrNotSaved):
		return w.giveUp(err)
	}
	return err // refused, and the log is as it was
}

// giveUp ends writing: nobody knows what the log holds, or somebody else writes it.
func (w *writer) giveUp(why error) error {
	w.lost = why
	return why
}
