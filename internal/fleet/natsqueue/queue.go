package natsqueue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet"
	"adze/internal/fleet/natsclient"
)

const (
	lettersFor = 30 * 24 * time.Hour // how long dead letters stay
	lookEvery  = 10 * time.Second    // for labels whose consumers the server did not tell of
	fromBelow  = 8                   // each so-manieth look begins with the last priority
	priorities = 3
)

type queue struct {
	conn   *natsclient.Conn
	stream jetstream.Stream

	mu      sync.Mutex
	lines   map[string]line // by the name of their consumer
	more    chan struct{}   // closed when a line is added
	looked  time.Time
	news    *nats.Subscription
	turn    int
	pullers map[string][]*puller // those that nobody uses, by their labels
}

// line is a label and a priority, whose tickets one consumer hands out.
type line struct {
	label    string
	priority int
	bounded  bool // its consumer was once silent, as at its limit
	jetstream.Consumer
}

// ackWait is how long a ticket stays with a worker that does not beat: as long as the worker's
// lease.
func ackWait(conn *natsclient.Conn) time.Duration { return conn.Lease() }

func nameOf(label string, priority int) string { return fmt.Sprintf("%s-p%d", label, priority) }

func openQueue(ctx context.Context, conn *natsclient.Conn) (*queue, error) {
	stream, err := conn.Stream(ctx, jetstream.StreamConfig{Name: taskStream, Subjects: []string{"adze.task.*.*.*"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1})
	if err != nil {
		return nil, err
	}
	_, err = conn.Stream(ctx, jetstream.StreamConfig{Name: deadStream, Subjects: []string{"adze.dead.*"}, Discard: jetstream.DiscardNew, MaxAge: lettersFor})
	return &queue{conn: conn, stream: stream, lines: map[string]line{}, more: make(chan struct{}), pullers: map[string][]*puller{}}, err
}

func subjectOf(t fleet.Ticket) string {
	by := 'p'
	if t.Chained {
		by = byWorker
	}
	return fmt.Sprintf("adze.task.%s.%c%d.%s", t.Label, by, t.Priority, strings.ReplaceAll(t.Run, ".", "_"))
}

// byWorker stands before the priority in the subject of a ticket that a worker sent, in place of p.
// A server lets submitters and workers write their own: a worker can send a ticket of what was
// asked for, and ask for nothing.
const byWorker = 'q'

// filters are the subjects of a line.
func filters(label string, priority int) []string {
	return []string{fmt.Sprintf("adze.task.%s.p%d.*", label, priority), fmt.Sprintf("adze.task.%s.%c%d.*", label, byWorker, priority)}
}

// lineOf returns the name of the line of a ticket's subject.
func lineOf(subject string) string {
	parts := strings.Split(subject, ".")
	if len(parts) < 5 {
		return ""
	}
	return parts[2] + "-p" + parts[3][1:]
}

// Submit makes the consumers of the label first: a ticket that nobody can take would not be seen.
func (q *queue) Submit(ctx context.Context, t fleet.Ticket, replace bool) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	if err := q.open(ctx, t.Label); err != nil {
		return err
	}
	raw, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if replace {
		if err := q.Remove(ctx, t); err != nil {
			return err
		}
	}
	_, err = q.conn.JetStream().PublishMsg(ctx, &nats.Msg{Subject: subjectOf(t), Data: raw})
	var api *jetstream.APIError
	if errors.As(err, &api) && strings.Contains(api.Description, "per subject") {
		return fmt.Errorf("%s: %w", t.Run, fleet.ErrQueue)
	}
	return explain(q.conn, err)
}

// Remove purges the ticket's subject.
func (q *queue) Remove(ctx context.Context, t fleet.Ticket) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	t.Chained = false
	err := q.conn.Purge(ctx, taskStream, subjectOf(t))
	t.Chained = true
	return explain(q.conn, errors.Join(err, q.conn.Purge(ctx, taskStream, subjectOf(t))))
}

// open makes the consumers of a label, or finds them.
func (q *queue) open(ctx context.Context, label string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for p := 1; p <= priorities; p++ {
		name := nameOf(label, p)
		if _, there := q.lines[name]; there {
			continue
		}
		c, err := q.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: name, FilterSubjects: filters(label, p), AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: ackWait(q.conn), MaxDeliver: -1, MaxAckPending: -1})
		if errors.Is(err, jetstream.ErrConsumerExists) || errors.Is(err, jetstream.ErrConsumerNameAlreadyInUse) { // with a limit
			if c, err = q.stream.Consumer(ctx, name); err == nil && len(c.CachedInfo().Config.FilterSubjects) == 0 { // of an earlier version
				config := c.CachedInfo().Config
				config.FilterSubject, config.FilterSubjects = "", filters(label, p)
				c, err = q.stream.UpdateConsumer(ctx, config)
			}
		}
		if err != nil {
			return explain(q.conn, err)
		}
		q.add(name, line{label: label, priority: p, Consumer: c})
	}
	return nil
}

// add keeps a line and wakes who waits for tickets. The caller holds q.mu.
func (q *queue) add(name string, l line) {
	q.lines[name] = l
	close(q.more)
	q.more = make(chan struct{})
}

// look finds the consumers of labels that others have made. The server tells of each that is made;
// the list of all is read first, and then now and then.
func (q *queue) look(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if time.Since(q.looked) < lookEvery {
		return nil
	}
	if q.news == nil {
		created := "$JS.EVENT.ADVISORY.CONSUMER.CREATED." + taskStream + ".*"
		news, err := q.conn.NATS().Subscribe(created, func(m *nats.Msg) { q.hear(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]) })
		if err != nil {
			return explain(q.conn, err)
		}
		q.news = news
	}
	names := q.stream.ConsumerNames(ctx)
	for name := range names.Name() {
		l, ok := parse(name)
		if _, there := q.lines[name]; there || !ok {
			continue
		}
		var err error
		if l.Consumer, err = q.stream.Consumer(ctx, name); err != nil {
			return explain(q.conn, err)
		}
		q.add(name, l)
	}
	if err := names.Err(); err != nil {
		return explain(q.conn, err)
	}
	q.looked = time.Now()
	return nil
}

// hear adds the line of a consumer that was made.
func (q *queue) hear(name string) {
	l, ok := parse(name)
	if !ok {
		return
	}
	ctx, cancel := limited(context.Background())
	defer cancel()
	var err error
	if l.Consumer, err = q.stream.Consumer(ctx, name); err != nil {
		return // the next look finds it
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.lines[name]; !there {
		q.add(name, l)
	}
}

func parse(name string) (line, bool) {
	at := len(name) - len("-p0")
	if at < 1 || name[at:at+2] != "-p" || name[at+2] < '1' || name[at+2] > '0'+priorities {
		return line{}, false
	}
	return line{label: name[:at], priority: int(name[at+2] - '0')}, true
}

// turns are the lines of labels in the order in which they are asked: by priority, and within one
// in turn; now and then from below.
func (q *queue) turns(labels []string) []line {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turn++
	var out []line
	for _, l := range q.lines {
		if len(labels) == 0 || slices.Contains(labels, l.label) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b line) int { return cmp.Or(a.priority-b.priority, strings.Compare(a.label, b.label)) })
	for from := 0; from < len(out); { // within a priority each label is first in turn
		to := from
		for to < len(out) && out[to].priority == out[from].priority {
			to++
		}
		part, first := out[from:to], q.turn%(to-from)
		copy(part, slices.Concat(part[first:], part[:first]))
		from = to
	}
	if q.turn%fromBelow == 0 {
		slices.Reverse(out)
	}
	return out
}

func (q *queue) taken(ctx context.Context, m *nats.Msg) (fleet.Taken, error) {
	t := &taken{q: q, m: m}
	about, err := m.Metadata()
	if err == nil {
		t.deliveries = int(about.NumDelivered)
		t.ticket, err = fleet.ParseTicket(m.Data)
		if _, rest, _ := strings.Cut(strings.TrimPrefix(m.Subject, "adze.task."), "."); strings.HasPrefix(rest, string(byWorker)) {
			t.ticket.Chained, t.ticket.Copy = true, nil
		}
	}
	if err != nil { // nobody can do anything with it
		return nil, errors.Join(fmt.Errorf("a ticket is damaged: %w", err), t.bury(ctx, "damaged", m.Data, "it is damaged"))
	}
	return t, nil
}

// Sizes asks all consumers.
func (q *queue) Sizes(ctx context.Context) ([]fleet.Size, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	var out []fleet.Size
	infos := q.stream.ListConsumers(ctx)
	for c := range infos.Info() {
		l, ok := parse(c.Name)
		if !ok {
			continue
		}
		s := fleet.Size{Label: l.label, Priority: l.priority, Waiting: int(c.NumPending), Taken: c.NumAckPending, Limit: max(c.Config.MaxAckPending, 0)}
		if s.Waiting+s.Taken+s.Limit > 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b fleet.Size) int { return cmp.Or(strings.Compare(a.Label, b.Label), a.Priority-b.Priority) })
	return out, explain(q.conn, infos.Err())
}

// Limit changes the consumers of a label.
func (q *queue) Limit(ctx context.Context, label string, most int) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	if err := q.open(ctx, label); err != nil {
		return err
	}
	if most <= 0 {
		most = -1
	}
	for p := 1; p <= priorities; p++ {
		q.mu.Lock()
		c := q.lines[nameOf(label, p)]
		q.mu.Unlock()
		info, err := c.Info(ctx)
		if err != nil {
			return explain(q.conn, err)
		}
		info.Config.MaxAckPending = most
		if _, err := q.stream.UpdateConsumer(ctx, info.Config); err != nil {
			return explain(q.conn, err)
		}
	}
	return nil
}
