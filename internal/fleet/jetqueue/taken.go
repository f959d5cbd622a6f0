package jetqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet"
)

type taken struct {
	q          *queue
	m          jetstream.Msg
	ticket     fleet.Ticket
	deliveries int
}

func (t taken) Ticket() fleet.Ticket { return t.ticket }

func (t taken) Deliveries() int { return t.deliveries }

func (t taken) Beat(context.Context) error { return t.late(t.m.InProgress()) }

func (t taken) Done(ctx context.Context) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	return t.late(t.m.DoubleAck(ctx))
}

func (t taken) Retry(_ context.Context, after time.Duration) error {
	if after <= 0 {
		return t.late(t.m.Nak())
	}
	return t.late(t.m.NakWithDelay(after))
}

func (t taken) Dead(ctx context.Context, reason string) error {
	return t.bury(ctx, t.ticket.Label, t.m.Data(), reason)
}

// bury stores a dead letter, once, and takes the ticket away then.
func (t taken) bury(ctx context.Context, label string, raw []byte, reason string) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	m := &nats.Msg{Subject: "adze.dead." + label, Data: raw, Header: nats.Header{}}
	m.Header.Set("Adze-Reason", strings.ReplaceAll(strings.ReplaceAll(reason, "\r", " "), "\n", " "))
	id := fmt.Sprintf("%s.%d", t.ticket.Run, t.ticket.Round)
	if _, err := t.q.conn.JetStream().PublishMsg(ctx, m, jetstream.WithMsgID(id)); err != nil {
		return explain(t.q.conn, err)
	}
	return t.late(t.m.TermWithReason(m.Header.Get("Adze-Reason")))
}

// late forgives an answer that was given before.
func (t taken) late(err error) error {
	if errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
		return nil
	}
	return explain(t.q.conn, err)
}
