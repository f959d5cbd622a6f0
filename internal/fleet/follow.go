package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// all returns the values of a bucket whose keys match.
func all[T any](ctx context.Context, s *Server, kv jetstream.KeyValue, keys string) (out []T, err error) {
	watched := s.watch(ctx, kv, keys, answerTakes, func(e jetstream.KeyValueEntry) bool {
		if e == nil {
			return false
		}
		var v T
		if err = json.Unmarshal(e.Value(), &v); err != nil {
			err = fmt.Errorf("%s of %s: %w", e.Key(), e.Bucket(), err)
			return false
		}
		out = append(out, v)
		return true
	})
	return out, cmp.Or(err, watched)
}

// Batches lists the batches on the server, newest first.
func (s *Server) Batches(ctx context.Context) ([]Order, error) {
	out, err := all[Order](ctx, s, s.batches, "*")
	slices.SortFunc(out, func(a, b Order) int { return b.Created.Compare(a.Created) })
	return out, err
}

// Batch returns a batch, or ErrNone.
func (s *Server) Batch(ctx context.Context, id string) (o Order, err error) {
	if strings.Trim(id, letters) != "" || id == "" {
		return o, fmt.Errorf("%w: %q", ErrNone, id)
	}
	var e jetstream.KeyValueEntry
	err = s.patiently(ctx, func(ctx context.Context) (err error) {
		e, err = s.batches.Get(ctx, id)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return o, fmt.Errorf("%w: %q", ErrNone, id)
	}
	if err == nil {
		err = json.Unmarshal(e.Value(), &o)
	}
	return o, err
}

// Results lists a batch's results in file order.
func (s *Server) Results(ctx context.Context, id string) ([]Stored, error) {
	out, err := all[Stored](ctx, s, s.results, id+".*")
	slices.SortFunc(out, func(a, b Stored) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Task, b.Task)) })
	return out, err
}

// Workers lists the active workers.
func (s *Server) Workers(ctx context.Context) ([]Presence, error) {
	out, err := all[Presence](ctx, s, s.workers, "*")
	slices.SortFunc(out, func(a, b Presence) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// A Lane is a queue for a batch's tasks with one label and priority.
type Lane struct {
	lane
	Waiting, Running int
}

// Batch returns the batch's id.
func (l Lane) Batch() string { return l.batch }

// Lanes lists a batch's lanes with unfinished tasks, or those of all batches if id is "".
func (s *Server) Lanes(ctx context.Context, id string) (out []Lane, err error) {
	err = s.patiently(ctx, func(ctx context.Context) error {
		out = nil
		list := s.tasks.ListConsumers(ctx)
		for info := range list.Info() {
			if l, ok := laneOf(info.Config.FilterSubject); ok && (id == "" || l.batch == id) && info.NumPending+uint64(info.NumAckPending) > 0 {
				out = append(out, Lane{l, int(info.NumPending), info.NumAckPending})
			}
		}
		return list.Err()
	})
	return out, err
}

// Unattended returns a batch's labels that no worker serves.
func (s *Server) Unattended(ctx context.Context, id string) (labels []string, err error) {
	there, err := s.Workers(ctx)
	if err != nil {
		return nil, err
	}
	lanes, err := s.Lanes(ctx, id)
	for _, l := range lanes {
		if !slices.ContainsFunc(there, func(p Presence) bool { return len(p.Labels) == 0 || slices.Contains(p.Labels, l.label) }) {
			labels = append(labels, l.label)
		}
	}
	return labels, err
}

// Cancel cancels a batch: running tasks are stopped, and waiting ones get the result "cancelled"
// when a worker takes them.
func (s *Server) Cancel(ctx context.Context, id string) error {
	if _, err := s.Batch(ctx, id); err != nil {
		return err
	}
	return s.patiently(ctx, func(ctx context.Context) error {
		_, err := s.cancels.Put(ctx, id, []byte(`{}`))
		return err
	})
}

// Follow calls done once for each result of a batch, and line for its tasks' output, until all have
// a result. A cancelled batch is finished once none of its tasks is running: the waiting ones need
// a worker to take them.
func (s *Server) Follow(ctx context.Context, o Order, line func(task string, line []byte), done func(Stored) error) (err error) {
	sub, err := s.nc.Subscribe("adze.lines."+o.ID+".*", func(m *nats.Msg) {
		line(strings.ReplaceAll(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], "=", "."), m.Data)
	})
	if err != nil {
		return s.explain(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go s.awaitCancel(ctx, o.ID, cancel)
	seen := map[string]bool{}
	watched := s.watch(ctx, s.results, o.ID+".*", 10*time.Second, func(e jetstream.KeyValueEntry) bool {
		if e == nil || seen[e.Key()] {
			return len(seen) < o.Tasks
		}
		var r Stored
		if err = json.Unmarshal(e.Value(), &r); err == nil {
			err = done(r)
		}
		seen[e.Key()] = true
		return err == nil && len(seen) < o.Tasks
	})
	if errors.Is(watched, errCancelled) {
		return nil
	}
	return cmp.Or(err, watched)
}

// awaitCancel ends Follow for a cancelled batch when none of its tasks is running.
func (s *Server) awaitCancel(ctx context.Context, id string, end context.CancelCauseFunc) {
	if s.watch(ctx, s.cancels, id, 10*time.Second, func(e jetstream.KeyValueEntry) bool { return e == nil }) != nil {
		return
	}
	for ctx.Err() == nil {
		lanes, err := s.Lanes(ctx, id)
		if err == nil && !slices.ContainsFunc(lanes, func(l Lane) bool { return l.Running > 0 }) {
			end(errCancelled)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollMost):
		}
	}
}

// File writes a result's patch or session to to.
func (s *Server) File(ctx context.Context, name string, to io.Writer) error {
	raw, asked := []byte(nil), 0
	err := s.patiently(ctx, func(context.Context) (err error) {
		try, cancel := context.WithTimeout(ctx, 10*time.Minute)
		defer cancel()
		raw, err = s.files.GetBytes(try, name)
		if asked++; errors.Is(err, jetstream.ErrObjectNotFound) && asked < 50 {
			return nats.ErrNoResponders // in a cluster, the server that answers may be behind
		}
		return err
	})
	if err == nil {
		_, err = to.Write(raw)
	}
	return err
}

// Delete removes a finished batch with its results, patches and sessions. It fails while tasks wait
// or run.
func (s *Server) Delete(ctx context.Context, id string) error {
	if _, err := s.Batch(ctx, id); err != nil {
		return err
	}
	if lanes, err := s.Lanes(ctx, id); err != nil || len(lanes) > 0 {
		return cmp.Or(err, fmt.Errorf("%w: %s", ErrOpen, id))
	}
	results, err := s.Results(ctx, id)
	if err != nil {
		return err
	}
	return s.patiently(ctx, func(ctx context.Context) error {
		for _, r := range results {
			for _, name := range []string{r.PatchFile, r.SessionFile} {
				if err := s.files.Delete(ctx, name); name != "" && err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
					return err
				}
			}
			if err := s.results.Purge(ctx, id+"."+token(r.Task)); err != nil {
				return err
			}
		}
		for info := range s.tasks.ListConsumers(ctx).Info() {
			if l, ok := laneOf(info.Config.FilterSubject); ok && l.batch == id {
				_ = s.tasks.DeleteConsumer(ctx, info.Name) // a remaining one ends when nobody pulls
			}
		}
		return cmp.Or(s.cancels.Purge(ctx, id), s.batches.Purge(ctx, id))
	})
}
