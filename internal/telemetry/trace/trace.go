// Package trace sends spans to an OpenTelemetry collector by OTLP over HTTP, configured by the
// standard variables.
//
// The one rule: adding a span never blocks and never fails. Spans wait in a bounded queue, one
// goroutine sends them, and lost ones are counted and reported once, at the end.
//
// Start reading at FromEnv (settings.go), then Tracer.Add; otlp.go is the wire format, send.go one
// request.
//
// Known limits: no gRPC and no JSON, since every collector accepts protobuf over HTTP. Only spans,
// no metrics and logs. The official SDK with its exporter is not used: it adds 1.2 ms to each
// start, of 3 ms for all packages, and 5.1 MB, which a start without a collector does not need.
package trace

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ID identifies a trace.
type ID [16]byte

// SpanID identifies a span in a trace; zero means none.
type SpanID [8]byte

func (i ID) String() string     { return hex.EncodeToString(i[:]) }
func (i SpanID) String() string { return hex.EncodeToString(i[:]) }

// NewSpanID returns a random id.
func NewSpanID() (id SpanID) {
	for id == (SpanID{}) {
		_, _ = rand.Read(id[:]) // it never fails
	}
	return id
}

// A Place is a position in a trace.
type Place struct {
	Trace   ID
	Span    SpanID // zero if the trace has no span yet
	Sampled bool
	State   string // vendor state, passed on unchanged
}

// Parent formats the place as a traceparent header.
func (p Place) Parent() string {
	flags := 0
	if p.Sampled {
		flags = 1
	}
	return fmt.Sprintf("00-%s-%s-%02x", p.Trace, p.Span, flags)
}

// Kind is a span's role, numbered as in OTLP.
type Kind int

// Kinds in use.
const (
	Internal Kind = 1
	Client   Kind = 3
)

// An Attribute is a name with a string, int64, float64, bool or []string.
type Attribute struct {
	Key   string
	Value any
}

// A Span is finished work.
type Span struct {
	Place
	ParentID   SpanID // zero for the first in its trace
	Name       string
	Kind       Kind
	Start, End time.Time
	Failed     bool
	Attributes []Attribute
}

// Limits of the queue.
const (
	maxWaiting = 2048
	maxBatch   = 512
	maxDelay   = 5 * time.Second
)

// A Tracer sends spans. Its goroutine runs from the first span until Close.
type Tracer struct {
	settings Settings
	begin    sync.Once
	queue    chan Span
	ctx      context.Context // for requests
	cancel   context.CancelFunc
	stop     chan struct{}
	stopped  chan struct{}
	send     func(ctx context.Context, spans []Span) error
	lost     atomic.Int64
	mu       sync.Mutex
	why      error // reason for the last loss
}

// New returns a Tracer. It starts nothing.
func New(s Settings) *Tracer {
	t := &Tracer{settings: s, queue: make(chan Span, maxWaiting), stop: make(chan struct{}), stopped: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.send = newSender(s, t.stop).send
	return t
}

// Begin returns the place for new work: below the process's parent span, or in a new trace.
func (t *Tracer) Begin() Place {
	p := t.settings.Parent
	if p.Trace == (ID{}) {
		_, _ = rand.Read(p.Trace[:]) // it never fails
	}
	p.Sampled = t.settings.Sampler.takes(p, p.Span != SpanID{})
	return p
}

// Add queues a span without blocking.
func (t *Tracer) Add(s Span) {
	if !s.Sampled {
		return
	}
	t.begin.Do(func() { go t.run() })
	select {
	case t.queue <- s:
	default:
		t.lose(1, errFull)
	}
}

func (t *Tracer) lose(n int, why error) {
	t.lost.Add(int64(n))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.why = why
}

// Close sends the waiting spans until ctx ends. The note describes lost ones, or is "". Add must
// not be called afterwards.
func (t *Tracer) Close(ctx context.Context) (note string) {
	t.begin.Do(func() { close(t.stopped) }) // nothing ever ran
	close(t.stop)
	select {
	case <-t.stopped:
	case <-ctx.Done():
		t.cancel() // the rest is lost and counted
		<-t.stopped
	}
	t.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.lost.Load(); n > 0 {
		return fmt.Sprintf("%d spans did not reach %s: %v", n, t.settings.shown(), t.why)
	}
	return ""
}

// run collects and sends batches, one at a time.
func (t *Tracer) run() {
	defer close(t.stopped)
	tick := time.NewTicker(maxDelay)
	defer tick.Stop()
	var batch []Span
	flush := func() {
		if len(batch) > 0 {
			if err := t.send(t.ctx, batch); err != nil {
				t.lose(len(batch), err)
			}
			batch = nil
		}
	}
	for {
		select {
		case s := <-t.queue:
			if batch = append(batch, s); len(batch) >= maxBatch {
				flush()
			}
		case <-tick.C:
			flush()
		case <-t.stop:
			for len(t.queue) > 0 {
				if batch = append(batch, <-t.queue); len(batch) >= maxBatch {
					flush()
				}
			}
			flush()
			return
		}
	}
}
