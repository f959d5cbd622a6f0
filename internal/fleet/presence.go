package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Presence is what a worker tells of itself as long as it is there.
type Presence struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Labels  []string  `json:"labels,omitempty"` // whose tasks it takes; none: all
	Jobs    int       `json:"jobs"`             // how many tasks it does at the same time
	Running int       `json:"running"`
	Stops   bool      `json:"stops,omitempty"`   // it takes no more tasks
	Refuses []string  `json:"refuses,omitempty"` // what it does not know, newest last
	Began   time.Time `json:"began"`
	Seen    time.Time `json:"seen"`
	Gone    bool      `json:"gone,omitempty"`
}

// Takes reports whether the worker takes tasks of a label.
func (p Presence) Takes(label string) bool {
	return !p.Stops && (len(p.Labels) == 0 || slices.Contains(p.Labels, label))
}

// PresenceFor is how long a server believes in a worker that says nothing.
const PresenceFor = 40 * time.Second

// Workers returns those that are there, by name.
func (c Cluster) Workers(ctx context.Context) ([]Presence, error) {
	records, err := c.Present.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var out []Presence
	for _, r := range records {
		p, err := parse[Presence](r)
		if err != nil {
			return nil, err
		}
		if !p.Gone {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Presence) int { return cmp.Or(strings.Compare(a.Name, b.Name), a.Began.Compare(b.Began)) })
	return out, nil
}

// Unattended returns the labels that no worker takes tasks of.
func (c Cluster) Unattended(ctx context.Context, labels []string) ([]string, error) {
	there, err := c.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(labels))), func(label string) bool {
		return slices.ContainsFunc(there, func(p Presence) bool { return p.Takes(label) })
	}), nil
}

// maxRefuses is how many refusals a worker tells of.
const maxRefuses = 5

// present tells that the worker is there until over is closed, and how many tasks it does a moment
// after that changed.
func (w *Worker) present(ctx context.Context, over <-chan struct{}) {
	key, revision, began := strings.ToLower(rand.Text()), uint64(0), w.now().UTC()
	put := func(ctx context.Context, gone bool) {
		w.mu.Lock()
		p := Presence{Name: w.Name, Version: w.Version, Labels: w.Labels, Jobs: max(1, w.Jobs), Running: len(w.live), Stops: w.stops,
			Refuses: slices.Clone(w.refuses), Began: began, Seen: w.now().UTC(), Gone: gone}
		w.mu.Unlock()
		now, err := write(ctx, w.Present, key, p, revision)
		if errors.Is(err, ErrStale) {
			if r, err := w.Present.Get(ctx, key); err == nil {
				now = r.Revision
			}
		} else if err != nil {
			return // it is told the next time
		}
		revision = now
	}
	each := time.NewTicker(beatEvery)
	defer each.Stop()
	for {
		put(ctx, false)
		select {
		case <-over:
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askAgain)
			defer cancel()
			put(ctx, true)
			return
		case <-each.C:
		case <-w.changed:
			late := time.NewTimer(askAgain) // tasks that are short are not told one by one
			select {
			case <-over:
			case <-late.C:
			}
			late.Stop()
		}
	}
}

// change notes that there is news of this worker.
func (w *Worker) change() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// strict reads a value of which every field is known. A field that another version of adze added is
// ErrUnknown: who does not know what it asks for must not do the rest.
func strict[T any](r Record) (v T, err error) {
	d := json.NewDecoder(bytes.NewReader(r.Value))
	d.DisallowUnknownFields()
	err = d.Decode(&v)
	if err == nil {
		return v, nil
	}
	if v, loose := parse[T](r); loose == nil {
		return v, fmt.Errorf("%w: the field %s of %s", ErrUnknown, strings.TrimPrefix(err.Error(), "json: unknown field "), r.Key)
	}
	return parse[T](r)
}

// readKnown gets a value, every field of which is known.
func readKnown[T any](ctx context.Context, b Book, key string) (v T, revision uint64, err error) {
	r, err := b.Get(ctx, key)
	if err != nil {
		return v, 0, err
	}
	v, err = strict[T](r)
	return v, r.Revision, err
}

// ParseTicket reads a ticket. What this version does not know of it is in its field Unknown.
func ParseTicket(raw []byte) (Ticket, error) {
	t, err := strict[Ticket](Record{Key: "the ticket", Value: raw})
	if errors.Is(err, ErrUnknown) {
		t.Unknown, err = err, nil
	}
	return t, err
}

// refuseWait is how long a ticket waits that this worker does not understand, for another one.
const refuseWait = 30 * time.Second

// refusedBelow is where the book of pauses counts refusals of a run whose record is left as it is.
const refusedBelow = "refused."

// refusedBefore returns how often workers of other versions gave the ticket back. Without an answer
// it is as often as needed: the ticket comes again.
func (a *attempt) refusedBefore(ctx context.Context) int {
	n, _, err := read[int](ctx, a.Pauses, refusedBelow+a.run.ID)
	if err != nil && !errors.Is(err, ErrNone) {
		return a.taken.Deliveries()
	}
	return n
}

// refuse gives a ticket back that this version does not understand. A record with a field that is
// not known is left as it is: to write it would lose the field.
func (a *attempt) refuse(ctx context.Context, why error, mayWrite bool) error {
	text := fmt.Sprintf("%s (adze %s): %v", a.Name, a.Version, why)
	if by := a.order.Version; by != "" {
		text += ", submitted by adze " + by
	}
	a.mu.Lock()
	run := a.run
	a.mu.Unlock()
	a.Worker.mu.Lock()
	if !slices.Contains(a.refuses, text) {
		a.refuses = append(a.refuses, text)
		a.refuses = a.refuses[max(0, len(a.refuses)-maxRefuses):]
	}
	a.Worker.mu.Unlock()
	a.change()
	if mayWrite {
		return a.answered(a.putOff(ctx, refuseWait, text))
	}
	err := change(ctx, a.Pauses, refusedBelow+a.taken.Ticket().Run, func(n *int) error { *n++; return nil })
	if err = errors.Join(err, a.moveOn(ctx)); err != nil {
		return err
	}
	run.ID = cmp.Or(run.ID, a.taken.Ticket().Run)
	a.tell(Event{Kind: PutOff, Run: run, Why: text})
	a.release()
	return a.answered(a.taken.Retry(ctx, refuseWait*time.Duration(min(a.taken.Deliveries(), 30))))
}
