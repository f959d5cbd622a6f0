package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/batch"
)

// A Submission is a batch for workers. It can be submitted again after an error: existing parts on
// the server stay.
type Submission struct {
	Order
	Tasks    []batch.Task
	Label    string // for tasks without one
	Priority int    // 1 first, 3 last
}

// lane is a queue for a batch's tasks with one label and priority.
type lane struct{ priority, label, batch string }

func laneOf(subject string) (l lane, ok bool) {
	parts := strings.Split(subject, ".")
	if len(parts) != 6 || parts[0] != "adze" || parts[1] != "tasks" {
		return l, false
	}
	return lane{parts[2], parts[3], parts[4]}, true
}

func (l lane) subject(task string) string {
	return "adze.tasks." + l.priority + "." + l.label + "." + l.batch + "." + task
}

func (l lane) name() string { return l.priority + "-" + l.label + "-" + l.batch }

func (s *Submission) lane(t batch.Task) (lane, error) {
	l := lane{fmt.Sprint(s.Priority), s.Label, s.ID}
	if own := t.Labels[labelKey]; own != "" {
		l.label = own
	}
	if own := t.Labels[priorityKey]; own != "" {
		l.priority = strings.TrimPrefix(own, "p")
	}
	switch {
	case l.priority != "1" && l.priority != "2" && l.priority != "3":
		return l, fmt.Errorf("the label %q is p1, p2 or p3, and not %q", priorityKey, t.Labels[priorityKey])
	case !SoundLabel(l.label):
		return l, fmt.Errorf("%w; %q is none", ErrLabel, l.label)
	}
	return l, nil
}

// Prepare sets defaults and an id, and returns an error for an invalid task.
func (s *Submission) Prepare() error {
	if s.ID == "" {
		s.ID = newID()
	}
	s.Order.Tasks, s.Created = len(s.Tasks), time.Now().UTC().Truncate(time.Second)
	for _, t := range s.Tasks {
		if _, err := s.lane(t); err != nil {
			return fmt.Errorf("line %d: %w", t.Line, err)
		}
	}
	return nil
}

// Submit stores a prepared batch on the server.
func (s *Server) Submit(ctx context.Context, sub *Submission) error {
	raw, err := json.Marshal(sub.Order)
	if err != nil {
		return err
	}
	known := false
	if err := s.patiently(ctx, func(ctx context.Context) error {
		_, err := s.batches.Create(ctx, sub.ID, raw)
		if known = errors.Is(err, jetstream.ErrKeyExists); known {
			return nil
		}
		return err
	}); err != nil {
		return err
	}
	lanes := map[lane]bool{}
	for _, t := range sub.Tasks {
		l, _ := sub.lane(t) // Prepare has checked it
		lanes[l] = true
	}
	for l := range lanes {
		if err := s.patiently(ctx, func(ctx context.Context) error { return s.makeConsumer(ctx, l, sub.Order) }); err != nil {
			return err
		}
	}
	for _, t := range sub.Tasks { // one at a time, to keep the file's order
		if err := s.patiently(ctx, func(ctx context.Context) error { return s.submit(ctx, sub, t, known) }); err != nil {
			return fmt.Errorf("line %d: %w", t.Line, err)
		}
	}
	return nil
}

// makeConsumer creates a lane's durable consumer. A message stays until its acknowledgement: after
// AckWait without progress it is delivered to another worker, and each delivery is counted.
func (s *Server) makeConsumer(ctx context.Context, l lane, o Order) error {
	_, err := s.tasks.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: l.name(), FilterSubject: l.subject("*"), AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: s.options.AckWait, MaxAckPending: o.Jobs, MaxDeliver: -1, InactiveThreshold: batchRetention})
	return err
}

// submit queues a task, unless it is queued, running, or has a result.
func (s *Server) submit(ctx context.Context, sub *Submission, t batch.Task, known bool) error {
	l, err := sub.lane(t)
	if err != nil {
		return err
	}
	if known {
		if _, err := s.results.Get(ctx, sub.ID+"."+token(t.ID)); !errors.Is(err, jetstream.ErrKeyNotFound) {
			return err
		}
	}
	raw, err := json.Marshal(item{sub.Order, t, t.Line})
	if err != nil {
		return err
	}
	_, err = s.js.Publish(ctx, l.subject(token(t.ID)), raw)
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("the task is longer than the %d KiB that the server takes; put what is long into a file of the repository", s.nc.MaxPayload()>>10)
	case errors.As(err, &api) && strings.Contains(api.Description, "per subject"): // already queued
		return nil
	}
	return err
}
