package natsclient

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Fresh reports whether the one who had the key before gave it back, less than a day ago. Otherwise
// they may still believe that it is theirs, or nobody had it.
func (l *Lease) Fresh() bool { return l.fresh }

// Holder is what the others see of this lease.
func (l *Lease) Holder() Holder { return l.me }

// Lost is closed when the lease was not renewed for so long that it may end, or when somebody else
// has it.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Held is nil as long as the lease is good by the own clock; it asks nobody. Its error wraps
// ErrLost.
func (l *Lease) Held() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.good()
}

// good closes Lost when the time is over. The caller holds l.mu.
func (l *Lease) good() error {
	if l.why == nil && l.since() >= l.of.times.Lose {
		l.lose(fmt.Errorf("%w: it was not renewed for %v", ErrLost, l.since().Round(time.Second)))
	}
	return l.why
}

// since is how long ago the last renewal was. A clock that stands still while the machine sleeps
// says too little, and one that was put back, too: the longer one counts.
func (l *Lease) since() time.Duration {
	now := l.of.now()
	return max(now.Sub(l.proven), now.Round(0).Sub(l.proven.Round(0)))
}

func (l *Lease) lose(why error) {
	l.why = why
	close(l.lost)
}

// Prove renews the lease now. Its error wraps ErrLost when the lease is gone; any other says that
// no server could be asked.
func (l *Lease) Prove(ctx context.Context) error {
	l.renewal.Lock()
	defer l.renewal.Unlock()
	if err := l.Held(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	sent := l.of.now()
	revision, err := l.publish(ctx, l.revision)
	if Conflict(err) {
		revision, err = l.again(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if gone := l.good(); gone != nil { // this process stood still while the answer came, or somebody else has it
		return gone
	}
	if err != nil {
		return l.of.conn.explain(err)
	}
	l.revision, l.proven = revision, sent
	return nil
}

// again looks who has the lease after a renewal that was refused: it may be an earlier one's, whose
// answer did not come.
func (l *Lease) again(ctx context.Context) (uint64, error) {
	last, err := l.of.last(ctx, l.subject)
	if err != nil {
		return 0, err
	}
	if last != nil && !free(last) && holderOf(last).Owner == l.me.Owner {
		return l.publish(ctx, last.Sequence)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why == nil {
		l.lose(fmt.Errorf("%w: it ended, or somebody else has it", ErrLost))
	}
	return 0, l.why
}

// watching closes Lost in time, also while a renewal waits for its answer.
func (l *Lease) watching(ctx context.Context) {
	l.every(ctx, l.of.times.Lose/20, func() {})
}

// renewing goes on until the lease is lost or given back.
func (l *Lease) renewing(ctx context.Context) {
	next := l.of.now().Add(l.of.times.Renew)
	l.every(ctx, l.of.times.Renew/10, func() {
		now := l.of.now()
		if now.Before(next) {
			return
		}
		next = now.Add(l.of.times.Renew)
		if l.Prove(ctx) != nil {
			next = now.Add(l.of.times.Renew / 10) // soon again: no answer is no loss yet
		}
	})
}

// every does something again and again as long as the lease is held.
func (l *Lease) every(ctx context.Context, interval time.Duration, do func()) {
	look := time.NewTicker(max(interval, 10*time.Millisecond))
	defer look.Stop()
	for l.Held() == nil {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			do()
		}
	}
}

// Release gives the lease back, when it is still this process's. Lost is not closed.
func (l *Lease) Release(ctx context.Context) error {
	l.stop()
	l.ended.Wait()
	if !l.giveBack() {
		return nil
	}
	l.renewal.Lock()
	defer l.renewal.Unlock()
	ctx, cancel := context.WithTimeout(ctx, oneTry)
	defer cancel()
	for {
		gone := &nats.Msg{Subject: l.subject, Header: nats.Header{"KV-Operation": {"DEL"}}}
		_, err := l.of.conn.js.PublishMsg(ctx, gone, jetstream.WithMsgTTL(l.of.times.Gone), jetstream.WithExpectLastSequencePerSubject(l.revision))
		if !Conflict(err) {
			return l.of.conn.explain(err)
		}
		last, err := l.of.last(ctx, l.subject)
		if err != nil || last == nil || free(last) || holderOf(last).Owner != l.me.Owner || last.Sequence == l.revision {
			return l.of.conn.explain(err)
		}
		l.revision = last.Sequence
	}
}

// giveBack ends the use of the lease here; if false, it was lost, or given back before.
func (l *Lease) giveBack() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why != nil {
		return false
	}
	l.why = fmt.Errorf("%w: it was given back", ErrLost)
	return true
}
