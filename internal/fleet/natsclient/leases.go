package natsclient

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// LeaseTimes are those of a lease.
type LeaseTimes struct {
	Live  time.Duration // the server ends it so long after the last renewal; at least 1 s
	Renew time.Duration // between renewals
	Gone  time.Duration // that it was given back is known so long, by which Lease.Fresh tells; at least 1 s
	// Lose is the time after the last renewal when the holder gives the lease up. It is shorter than
	// Live, so that there is time to end tasks that run.
	Lose time.Duration
}

// Times of leases: the usual one outlives the choice of a new leader, which takes 2 to 7 s, by two
// thirds of it.
const (
	usualLease = 15 * time.Second
	usualGone  = 24 * time.Hour
	leastLease = 3 * time.Second
)

// or fills in: a lease is renewed after a third of its time, and given up after two, which leaves
// its holder the last one, usually 5 s, to end what runs.
func (t LeaseTimes) or(live time.Duration) LeaseTimes {
	live = cmp.Or(t.Live, live)
	return LeaseTimes{Live: live, Renew: cmp.Or(t.Renew, live/3), Lose: cmp.Or(t.Lose, live*2/3), Gone: cmp.Or(t.Gone, usualGone)}
}

// leaseBucket holds a key for each lease.
const leaseBucket = "ADZE_LEASE"

// Leases say who works on what. It is safe for concurrent use.
type Leases struct {
	conn  *Conn
	times LeaseTimes
	now   func() time.Time
	here  Holder // this process, of no lease
}

// Holder is who has a lease, as the others see it.
type Holder struct {
	Owner string    `json:"owner"` // of this lease alone
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Place string    `json:"place,omitempty"` // where the PID counts; if empty, unknown
}

func (h Holder) String() string { return fmt.Sprintf("pid %d on %s", h.PID, h.Host) }

// Leases gives the leases of the server, with the times of Options.Lease where they are zero.
func (c *Conn) Leases(ctx context.Context, times LeaseTimes) (*Leases, error) {
	if _, err := c.Bucket(ctx, jetstream.KeyValueConfig{Bucket: leaseBucket, History: 1, LimitMarkerTTL: time.Minute}); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	return &Leases{conn: c, times: times.or(c.options.Lease), now: time.Now, here: Holder{Host: host, PID: os.Getpid(), Place: place()}}, nil
}

// Lease is a key that this process holds.
type Lease struct {
	of      *Leases
	subject string
	value   []byte
	me      Holder

	renewal  sync.Mutex // lets one renewal go at a time, and guards revision
	revision uint64

	mu     sync.Mutex // guards what follows; never held while a server is asked
	proven time.Time  // when the last renewal that succeeded was sent
	why    error      // it was lost, or given back
	lost   chan struct{}
	fresh  bool // whoever had it before gave it back
	stop   context.CancelFunc
	ended  sync.WaitGroup
}

// Who tells who holds key; nobody is ErrNone.
func (l *Leases) Who(ctx context.Context, key string) (Holder, error) {
	last, err := l.last(ctx, "$KV."+leaseBucket+"."+Token(key))
	if err != nil {
		return Holder{}, l.conn.explain(err)
	}
	if last == nil || free(last) {
		return Holder{}, ErrNone
	}
	return holderOf(last), nil
}

// Hold takes key, which is any text but the empty one, and keeps renewing it. When somebody else
// has it the error wraps ErrHeld and names them; one who is known to be dead loses it at once.
func (l *Leases) Hold(ctx context.Context, key string) (*Lease, error) {
	me := l.here
	me.Owner, me.Since = rand.Text(), l.now().UTC().Round(0)
	value, err := json.Marshal(me)
	if err != nil {
		return nil, err
	}
	lease := &Lease{of: l, subject: "$KV." + leaseBucket + "." + Token(key), value: value, me: me, lost: make(chan struct{})}
	if err := lease.take(ctx); err != nil {
		return nil, err
	}
	renewing, stop := context.WithCancel(context.Background())
	lease.stop = stop
	lease.ended.Go(func() { lease.watching(renewing) })
	lease.ended.Go(func() { lease.renewing(renewing) })
	return lease, nil
}

// last is the last message of a lease's subject; if nil, there is none.
func (l *Leases) last(ctx context.Context, subject string) (last *jetstream.RawStreamMsg, err error) {
	last, err = l.conn.Last(ctx, "KV_"+leaseBucket, subject)
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	return last, err
}

// free reports whether a message of the bucket says that nobody has the key: it was deleted, or its
// time was over.
func free(m *jetstream.RawStreamMsg) bool {
	return m.Header.Get("KV-Operation") != "" || m.Header.Get("Nats-Marker-Reason") != ""
}

func holderOf(m *jetstream.RawStreamMsg) (h Holder) {
	_ = json.Unmarshal(m.Data, &h) // what is no JSON has no owner, and is held
	return h
}

// takingTakes bounds how long a lease is asked for where no server answers.
const takingTakes = 10 * time.Second

// take puts the lease where nobody has it: first as if nobody ever had, which the server refuses
// otherwise, then by what it finds there. An answer that did not come is found by looking, too: the
// owner is in the value.
func (l *Lease) take(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, takingTakes)
	defer cancel()
	return l.of.conn.patiently(ctx, func(ctx context.Context) error {
		sent := l.of.now()
		revision, err := l.publish(ctx, 0)
		if !Conflict(err) {
			l.revision, l.proven = revision, sent
			return err
		}
		for {
			sent := l.of.now()
			last, err := l.of.last(ctx, l.subject)
			if err != nil {
				return err
			}
			revision := uint64(0)
			if last != nil {
				revision = last.Sequence
				l.fresh = last.Header.Get("KV-Operation") == "DEL" && last.Header.Get("Nats-Marker-Reason") == ""
				switch h := holderOf(last); {
				case free(last):
				case h.Owner == l.me.Owner:
					l.revision, l.proven = revision, sent
					return nil
				case !h.dead(l.me.Place):
					ends := last.Time.Add(l.of.times.Live).Sub(l.of.now()).Round(time.Second)
					return fmt.Errorf("%w: %v; end that one, or try again: the lease ends in %v unless it is renewed", ErrHeld, h, max(ends, 0))
				}
			}
			l.revision, err = l.publish(ctx, revision)
			l.proven = sent
			if !Conflict(err) || !pause(ctx, tryAgain) {
				return err
			}
		}
	})
}

// publish writes the value with its time to live. KeyValue.Update cannot: it drops that time.
func (l *Lease) publish(ctx context.Context, after uint64) (revision uint64, err error) {
	ack, err := l.of.conn.js.PublishMsg(ctx, &nats.Msg{Subject: l.subject, Data: l.value},
		jetstream.WithMsgTTL(l.of.times.Live), jetstream.WithExpectLastSequencePerSubject(after))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}
