// Package natsqueue is what a fleet needs of a server, by NATS JetStream: the queue is a work-queue
// stream with one subject a label, priority and task, records are key-value buckets whose changes
// name the revision they were made from.
//
// The one rule: what counts is read where it was written. A bucket lets any replica answer, which
// may be behind, so a record is read from the server that leads.
//
// Start reading at Open, then queue.go and book.go.
//
// Known limits: a limit holds for each priority of a label, so that of all three together three
// times as many can be taken. A ticket that is put off counts among those that are taken until its
// time has come.
package natsqueue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"adze/internal/fleet"
	"adze/internal/fleet/natsclient"
)

// Names of what a fleet keeps on a server.
const (
	taskStream   = "ADZE_TASK"
	deadStream   = "ADZE_DEAD"
	runBucket    = "ADZE_RUN"
	bodyBucket   = "ADZE_BODY"
	cancelBucket = "ADZE_CANCEL"
	pauseBucket  = "ADZE_PAUSE"
	workerBucket = "ADZE_WORKER"
	inputBucket  = "ADZE_INPUT"
)

// Open makes what is missing on a server.
func Open(ctx context.Context, conn *natsclient.Conn) (fleet.Cluster, error) {
	c := fleet.Cluster{Beat: min(ackWait(conn)/3, 10*time.Second)}
	q, err := openQueue(ctx, conn)
	if err != nil {
		return c, err
	}
	c.Queue = q
	for name, to := range map[string]*fleet.Book{runBucket: &c.Runs, bodyBucket: &c.Bodies, cancelBucket: &c.Cancels, pauseBucket: &c.Pauses, workerBucket: &c.Present} {
		lives := time.Duration(0)
		if name == workerBucket {
			lives = fleet.PresenceFor
		}
		if *to, err = openBook(ctx, conn, name, lives); err != nil {
			return c, err
		}
	}
	held, err := conn.Leases(ctx, natsclient.LeaseTimes{})
	if err != nil {
		return c, err
	}
	c.Leases = leases{held}
	for bucket, to := range map[string]*fleet.Blobs{natsclient.BlobBucket: &c.Blobs, inputBucket: &c.Inputs} {
		kept, err := conn.BlobsIn(ctx, bucket)
		if err != nil {
			return c, err
		}
		*to = blobs{kept}
	}
	return c, nil
}

type blobs struct{ of *natsclient.Blobs }

func (b blobs) Keep(ctx context.Context, from io.ReadSeeker) (string, error) {
	name, err := b.of.Keep(ctx, from)
	return name, away(err)
}

func (b blobs) Fetch(ctx context.Context, name string, to io.Writer) error {
	return away(b.of.Fetch(ctx, name, to))
}

func (b blobs) Sweep(ctx context.Context, old func(name string, kept time.Time) bool, named func() (map[string]bool, error)) (int, error) {
	n, err := b.of.Sweep(ctx, old, named)
	return n, away(err)
}

// away marks an error that is explained already.
func away(err error) error {
	if errors.Is(err, natsclient.ErrUnreachable) {
		return fmt.Errorf("%w: %w", fleet.ErrAway, err)
	}
	return err
}

type leases struct{ of *natsclient.Leases }

// Hold takes a lease. Its key cannot be that of a session, which are kept beside it.
func (l leases) Hold(ctx context.Context, key string) (fleet.Lease, error) {
	held, err := l.of.Hold(ctx, "task."+key)
	if errors.Is(err, natsclient.ErrHeld) {
		return nil, fmt.Errorf("%w: %w", fleet.ErrHeld, err)
	}
	if err != nil {
		return nil, away(err)
	}
	return lease{held}, nil
}

// lease tells no answer from a loss.
type lease struct{ *natsclient.Lease }

func (l lease) Prove(ctx context.Context) error { return away(l.Lease.Prove(ctx)) }

// explain makes the errors of a server those of a fleet.
func explain(conn *natsclient.Conn, err error) error {
	err = conn.Forbidden(err)
	switch {
	case err == nil || errors.Is(err, natsclient.ErrRefused):
		return err
	case natsclient.Full(err):
		return fmt.Errorf("%w: %s: make room there or raise its limits, then go on: %w", fleet.ErrFull, conn.URL(), err)
	case natsclient.Passing(err), errors.Is(err, natsclient.ErrUnreachable):
		return fmt.Errorf("%w: %s: %w", fleet.ErrAway, conn.URL(), err)
	}
	return fmt.Errorf("the NATS server %s: %w", conn.URL(), err)
}
