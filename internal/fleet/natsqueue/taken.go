package natsqueue

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet"
)

type taken struct {
	q          *queue
	m          *nats.Msg
	ticket     fleet.Ticket
	deliveries int
	answered   atomic.Bool
}

func (t *taken) Ticket() fleet.Ticket { return t.ticket }

func (t *taken) Deliveries() int { return t.deliveries }

func (t *taken) Beat(context.Context) error {
	if t.answered.Load() {
		return nil
	}
	return t.say("+WPI")
}

// Done waits until the server has it: whose turn it is next may be bounded by how many are taken.
func (t *taken) Done(ctx context.Context) error {
	if t.answered.Load() { // late
		return nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	_, err := t.q.conn.NATS().RequestWithContext(ctx, t.m.Reply, []byte("+ACK"))
	t.answered.CompareAndSwap(false, err == nil)
	return explain(t.q.conn, err)
}

func (t *taken) Retry(_ context.Context, after time.Duration) error {
	if after <= 0 {
		return t.answer("-NAK")
	}
	return t.answer(fmt.Sprintf(`-NAK {"delay": %d}`, after.Nanoseconds()))
}

func (t *taken) Dead(ctx context.Context, reason string) error {
	return t.bury(ctx, t.ticket.Label, t.m.Data, reason)
}

// bury stores a dead letter, once, and takes the ticket away then.
func (t *taken) bury(ctx context.Context, label string, raw []byte, reason string) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	m := &nats.Msg{Subject: "adze.dead." + label, Data: raw, Header: nats.Header{}}
	m.Header.Set("Adze-Reason", strings.ReplaceAll(strings.ReplaceAll(reason, "\r", " "), "\n", " "))
	id := fmt.Sprintf("%s.%d", t.ticket.Run, t.ticket.Round)
	if _, err := t.q.conn.JetStream().PublishMsg(ctx, m, jetstream.WithMsgID(id)); err != nil {
		return explain(t.q.conn, err)
	}
	return t.answer("+TERM " + m.Header.Get("Adze-Reason"))
}

// answer says the last that is said of a ticket; one that comes after it is not said.
func (t *taken) answer(what string) error {
	if !t.answered.CompareAndSwap(false, true) {
		return nil
	}
	return t.say(what)
}

// say speaks of the ticket in the words of the protocol (AckAck and its siblings in
// server/consumer.go of nats-server).
func (t *taken) say(what string) error {
	return explain(t.q.conn, t.q.conn.NATS().Publish(t.m.Reply, []byte(what)))
}
