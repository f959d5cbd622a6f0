package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"adze/internal/fleet/batch"
	"adze/internal/text/jsontext"
)

// What a submitter wants of a run, and how far the run is, are two records: the ask and the run.
// Submitters write asks and cancels, workers write runs, so that a server can let each of them
// write its own alone. An ask is the run before anything is done, in its newest round.

// asked returns the run that an ask stands for, before its first attempt. Only what a submitter may
// say is taken of it: it comes from outside.
func asked(id string, ask Run) Run {
	of, _, _ := strings.Cut(id, ".")
	return Run{ID: id, Batch: of, Label: ask.Label, Priority: ask.Priority, Line: ask.Line, Task: ask.Task, Source: ask.Source, Work: ask.Work,
		Next: nextOf(of, ask.Next), State: Waiting, Round: max(1, ask.Round), Kept: batch.Progress{Pushing: ask.Kept.Pushing}, Created: ask.Created, Changed: ask.Changed}
}

// nextOf returns the run behind another one in the chain of a batch.
func nextOf(batch, next string) string {
	if !strings.HasPrefix(next, batch+".") {
		return ""
	}
	return next
}

// later returns the cancel of two that is of the later round.
func later(a, b cancel) cancel {
	if a.Round >= b.Round {
		return a
	}
	return b
}

// combined is what is known of a run: its own record, or the ask where that is of a later round.
// One that waits and is cancelled has ended, although its ticket may lie in the queue yet.
func combined(ask, run Run, c cancel) Run {
	r := run
	if ask.ID != "" && ask.Round > run.Round {
		r = asked(ask.ID, ask)
		r.Earlier = run.Earlier + run.soFar()
	}
	if r.State == Waiting && c.Round >= r.Round {
		r.State, r.Reason, r.Changed = Cancelled, ErrCancelled.Error(), c.At
	}
	return r
}

// Run returns what is known of a run now. One that is not there is ErrNone.
func (c Cluster) Run(ctx context.Context, id string) (Run, error) {
	var ask, run Run
	var stop, all cancel
	g, asking := errgroup.WithContext(ctx)
	g.Go(func() error { return found(asking, c.Runs, asksBelow+id, &ask) })
	g.Go(func() error { return found(asking, c.Runs, runsBelow+id, &run) })
	g.Go(func() error { return found(asking, c.Cancels, id, &stop) })
	g.Go(func() error {
		of, _, _ := strings.Cut(id, ".")
		return found(asking, c.Cancels, wholeBatch(of), &all)
	})
	if err := g.Wait(); err != nil {
		return run, err
	}
	if ask.ID == "" && run.ID == "" {
		return run, fmt.Errorf("run %s: %w", id, ErrNone)
	}
	return combined(ask, run, later(stop, all)), nil
}

// found reads a record where there is one.
func found[T any](ctx context.Context, b Book, key string, to *T) error {
	v, _, err := read[T](ctx, b, key)
	if errors.Is(err, ErrNone) {
		return nil
	}
	*to = v
	return err
}

// records reads all records below a prefix, by the rest of their keys.
func records[T any](ctx context.Context, b Book, prefix, of string, to map[string]T) error {
	below := prefix
	if of != "" {
		below += of + "."
	}
	list, err := b.List(ctx, below)
	for _, r := range list {
		v, err := parse[T](r)
		if err != nil {
			return err
		}
		to[strings.TrimPrefix(r.Key, prefix)] = v
	}
	return err
}

// List tells the runs of a batch in the order of its lines; of an empty one: all.
func (c Cluster) List(ctx context.Context, of string) ([]Run, error) {
	asks, runs, cancels := map[string]Run{}, map[string]Run{}, map[string]cancel{}
	g, asking := errgroup.WithContext(ctx)
	g.Go(func() error { return records(asking, c.Runs, asksBelow, of, asks) })
	g.Go(func() error { return records(asking, c.Runs, runsBelow, of, runs) })
	g.Go(func() error { return records(asking, c.Cancels, "", of, cancels) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var out []Run
	stopped := func(id string) cancel {
		of, _, _ := strings.Cut(id, ".")
		return later(cancels[id], cancels[wholeBatch(of)])
	}
	for id, ask := range asks {
		out = append(out, combined(ask, runs[id], stopped(id)))
	}
	for id, run := range runs {
		if _, there := asks[id]; !there { // of an earlier version
			out = append(out, combined(Run{}, run, stopped(id)))
		}
	}
	return sorted(out), nil
}

// keepTask says where the task of a run stands. The records are there for as long as the batch is,
// and all who may look at the server can read them: there, secrets are masked. The task as it was
// submitted stands apart until it cannot run any more.
func (c Cluster) keepTask(ctx context.Context, s *Submission, id string, t batch.Task) (Work, error) {
	raw, err := jsontext.Marshal(t)
	if err != nil {
		return Work{}, err
	}
	if len(raw) > inlineTask {
		name, err := c.Inputs.Keep(ctx, bytes.NewReader(raw))
		return Work{Blob: name}, err
	}
	if s.RedactJSON == nil {
		return Work{Task: &t}, nil
	}
	masked := s.RedactJSON(bytes.Clone(raw))
	if bytes.Equal(masked, raw) {
		return Work{Task: &t}, nil
	}
	shown, err := parse[batch.Task](Record{Key: id, Value: masked})
	if err != nil {
		return Work{}, err
	}
	work := Work{Task: &shown, Apart: true}
	if _, err := c.Run(ctx, id); err == nil || !errors.Is(err, ErrNone) { // submitted before: it may have succeeded since
		return work, err
	}
	_, err = c.Bodies.Put(ctx, id, raw, 0)
	if errors.Is(err, ErrStale) { // by a try of the same submission that was cut off
		err = nil
	}
	return work, err
}

// errBody says that a task cannot be done again.
var errBody = errors.New("the task had secrets in it, and was removed when it had succeeded; submit it again")

// Task is what a run is about.
func (c Cluster) Task(ctx context.Context, r Run) (t batch.Task, err error) {
	switch {
	case r.Work.Apart:
		t, _, err = readKnown[batch.Task](ctx, c.Bodies, r.ID)
		if errors.Is(err, ErrNone) {
			err = errBody
		}
	case r.Work.Task != nil:
		t = *r.Work.Task
	default:
		var b bytes.Buffer
		err = c.Inputs.Fetch(ctx, r.Work.Blob, &b)
		if err != nil && !errors.Is(err, ErrAway) { // of an earlier version
			b.Reset()
			err = c.Blobs.Fetch(ctx, r.Work.Blob, &b)
		}
		if err == nil {
			t, err = strict[batch.Task](Record{Key: "the task", Value: b.Bytes()})
		}
	}
	if err != nil {
		return t, fmt.Errorf("the task of %s: %w", r.ID, err)
	}
	t.Line = r.Line
	return t, nil
}
