package natsqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"adze/internal/fleet"
)

// Times of requests for tickets.
const (
	// heard is how long the answer of one consumer is waited for before the next one is asked. An
	// answer that comes later is not lost.
	heard = 30 * time.Millisecond
	// stands is how long a request waits at a consumer that has no ticket.
	stands = 5 * time.Second
	// putBack is how long a ticket that came unasked waits for somebody who asks.
	putBack = 50 * time.Millisecond
)

// What can come of a request besides a ticket.
var (
	errEmpty  = errors.New("no ticket waits")
	errSilent = errors.New("the consumer did not answer")
	errGone   = errors.New("the consumer was deleted")
)

// A puller requests tickets of lines. A request that is not answered at once stays at the server,
// which answers it when there is a ticket: one was submitted, its delay is over, or a place below a
// limit is free. One caller uses a puller at a time. A ticket that arrives while nobody does goes
// back to the server.
type puller struct {
	q       *queue
	inbox   string
	answers chan answer

	mu    sync.Mutex
	last  int
	asked map[string]request // by the name of the line
}

// request is one that has no answer yet.
type request struct {
	number int
	until  time.Time // then it counts as lost
}

// answer is what a server said to a request.
type answer struct {
	line string
	m    *nats.Msg // if nil, there is no ticket
	err  error
}

// Take asks one line after the other.
func (q *queue) Take(ctx context.Context, labels []string) (fleet.Taken, error) {
	return q.pull(ctx, labels, (*puller).next)
}

// Await asks one line after the other, and then all of them for the first ticket that comes.
func (q *queue) Await(ctx context.Context, labels []string) (fleet.Taken, error) {
	return q.pull(ctx, labels, (*puller).await)
}

func (q *queue) pull(ctx context.Context, labels []string, how func(*puller, context.Context, []string) (*nats.Msg, error)) (fleet.Taken, error) {
	asking, cancel := limited(ctx)
	defer cancel()
	if err := q.look(asking); err != nil {
		return nil, err
	}
	p, err := q.puller(labels)
	if err != nil {
		return nil, explain(q.conn, err)
	}
	defer q.keep(p, labels)
	m, err := how(p, ctx, labels)
	switch {
	case err == nil:
		return q.taken(ctx, m)
	case errors.Is(err, errEmpty), ctx.Err() != nil:
		return nil, fleet.ErrNone
	}
	return nil, explain(q.conn, err)
}

// puller returns one that nobody uses.
func (q *queue) puller(labels []string) (*puller, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := strings.Join(labels, " ")
	if free := q.pullers[key]; len(free) > 0 {
		q.pullers[key] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	p := &puller{q: q, inbox: q.conn.NATS().NewInbox(), answers: make(chan answer), asked: map[string]request{}}
	_, err := q.conn.NATS().Subscribe(p.inbox+".*.*", p.hear)
	return p, err
}

func (q *queue) keep(p *puller, labels []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	key := strings.Join(labels, " ")
	q.pullers[key] = append(q.pullers[key], p)
}

// hear takes an answer, and hands it to who uses the puller.
func (p *puller) hear(m *nats.Msg) {
	a := answer{m: m}
	number, n := "", 0
	if a.err = refusal(m); a.err != nil {
		a.m = nil
		a.line, number, _ = strings.Cut(strings.TrimPrefix(m.Subject, p.inbox+"."), ".")
		n, _ = strconv.Atoi(number)
	} else { // a ticket comes under its own subject
		a.line = lineOf(m.Subject)
	}
	p.mu.Lock()
	if a.m != nil || p.asked[a.line].number == n {
		delete(p.asked, a.line)
	}
	p.mu.Unlock()
	late := time.NewTimer(putBack)
	defer late.Stop()
	select {
	case p.answers <- a:
	case <-late.C:
		if a.m != nil {
			_ = p.q.conn.NATS().Publish(m.Reply, []byte("-NAK")) // otherwise it comes back when its time is over
		}
	}
}

// refusal is what a server says that gives no ticket: a status, and no data.
func refusal(m *nats.Msg) error {
	status, text := m.Header.Get("Status"), m.Header.Get("Description")
	switch {
	case status == "" || len(m.Data) > 0:
		return nil
	case status == "404" || status == "408":
		return errEmpty
	case strings.Contains(strings.ToLower(text), "consumer deleted"):
		return errGone
	case status == "503":
		return nats.ErrNoResponders
	case strings.Contains(strings.ToLower(text), "leadership change"):
		return fmt.Errorf("%w: the server that leads changes", nats.ErrNoResponders)
	}
	return fmt.Errorf("%s %s", status, text)
}

// ask sends a request to a line, unless one is there already. It stays there for a while, or is
// answered at once; only a consumer at its limit is silent.
func (p *puller) ask(name string, stay bool) (sent bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, asked := p.asked[name]; asked && time.Now().Before(at.until) {
		return false, nil
	}
	p.last++
	p.asked[name] = request{p.last, time.Now().Add(stands + stands/2)}
	body := `{"batch":1,"no_wait":true}`
	if stay {
		body = fmt.Sprintf(`{"batch":1,"expires":%d}`, stands)
	}
	return true, p.q.conn.NATS().PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+taskStream+"."+name, fmt.Sprintf("%s.%s.%d", p.inbox, name, p.last), []byte(body))
}

// next returns a ticket that is there, of the first line in turn that has one, or errEmpty.
func (p *puller) next(ctx context.Context, labels []string) (*nats.Msg, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	for _, l := range p.q.turns(labels) {
		name := nameOf(l.label, l.priority)
		sent, err := p.ask(name, l.bounded)
		if err != nil {
			return nil, err
		}
		wait := heard
		if !sent {
			wait = 0 // its ticket would have come
		}
		m, err := p.answer(name, wait)
		if errors.Is(err, errSilent) && sent && !l.bounded {
			if err := p.q.conn.NATS().FlushWithContext(ctx); err != nil { // there and back, behind the request
				return nil, err
			}
			if m, err = p.answer(name, heard); errors.Is(err, errSilent) {
				p.q.bound(name)
			}
		}
		if err == nil || !errors.Is(err, errEmpty) && !errors.Is(err, errSilent) {
			return m, err
		}
	}
	return nil, errEmpty
}

// answer waits for that of a line, and takes a ticket of any other line as well.
func (p *puller) answer(name string, most time.Duration) (*nats.Msg, error) {
	select { // of two that are there, time comes second
	case a := <-p.answers:
		if a.m != nil || a.line == name {
			return a.m, p.told(a)
		}
	default:
	}
	late := time.NewTimer(most)
	defer late.Stop()
	for {
		select {
		case a := <-p.answers:
			if a.m != nil || a.line == name {
				return a.m, p.told(a)
			}
		case <-late.C:
			return nil, errSilent
		}
	}
}

// told returns the error of an answer, and forgets a line whose consumer is gone.
func (p *puller) told(a answer) error {
	if errors.Is(a.err, errGone) {
		p.q.mu.Lock()
		defer p.q.mu.Unlock()
		delete(p.q.lines, a.line)
		return errEmpty
	}
	return a.err
}

// bound notes that a consumer was silent.
func (q *queue) bound(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l, there := q.lines[name]; there {
		l.bounded = true
		q.lines[name] = l
	}
}

// await returns the first ticket that comes.
func (p *puller) await(ctx context.Context, labels []string) (*nats.Msg, error) {
	m, err := p.next(ctx, labels)
	if !errors.Is(err, errEmpty) {
		return m, err
	}
	each := time.NewTicker(stands)
	defer each.Stop()
	for {
		more, names := p.q.names(labels)
		for _, name := range names {
			if _, err := p.ask(name, true); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, errEmpty
		case a := <-p.answers:
			if err := p.told(a); !errors.Is(err, errEmpty) {
				return a.m, err
			}
		case <-more: // there is another line
		case <-each.C: // an answer may have been lost
			asking, cancel := limited(ctx)
			err := p.q.look(asking)
			cancel()
			if err != nil {
				return nil, err
			}
		}
	}
}

// names returns the lines of labels, and what is closed when there are more.
func (q *queue) names(labels []string) (more <-chan struct{}, names []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, l := range q.lines {
		if len(labels) == 0 || slices.Contains(labels, l.label) {
			names = append(names, name)
		}
	}
	return q.more, names
}
