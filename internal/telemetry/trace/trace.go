// Package trace sends spans to a collector of OpenTelemetry: OTLP over HTTP, as the usual variables
// say.
//
// The one rule: whoever hands in a span never waits and never fails for it. Spans wait in a bounded
// queue, one goroutine sends them, and what cannot be sent is counted and told once, at the end.
//
// Start reading at FromEnv (settings.go), then Tracer.Add; otlp.go is the wire
// format, send.go the one request.
//
// Known limits: neither gRPC nor JSON is built: every collector takes protobuf over HTTP. Only
// spans: no metrics and no logs. The official SDK with its exporter is
// not used: it costs each start 1.2 ms, where all packages may take 3 ms, and 5.1 MB, of which a
// start without a collector needs nothing.
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

// ID names a trace.
type ID [16]byte

// SpanID names a span in it; if zero, none.
type SpanID [8]byte

func (i ID) String() string     { return hex.EncodeToString(i[:]) }
func (i SpanID) String() string { return hex.EncodeToString(i[:]) }

// NewSpanID makes a random one.
func NewSpanID() (id SpanID) {
	for id == (SpanID{}) {
		_, _ = rand.Read(id[:]) // it never fails
	}
	return id
}

// Place is where in which trace a span stands.
type Place struct {
	Trace   ID
	Span    SpanID // if zero, the trace has no span yet
	Sampled bool
	State   string // of the vendor that began the trace, handed on unchanged
}

// Parent is the place in the form of the header traceparent.
func (p Place) Parent() string {
	flags := 0
	if p.Sampled {
		flags = 1
	}
	return fmt.Sprintf("00-%s-%s-%02x", p.Trace, p.Span, flags)
}

// Kind is the role of a span, numbered as in OTLP.
type Kind int

// Kinds that are used here.
const (
	Internal Kind = 1
	Client   Kind = 3
)

// Attribute is a name with a string, int64, float64, bool or []string.
type Attribute struct {
	Key   string
	Value any
}

// Span is one piece of work that has ended.
type Span struct {
	Place
	Up         SpanID // if zero, it is the first of its trace
	Name       string
	Kind       Kind
	Start, End time.Time
	Failed     bool
	Attributes []Attribute
}

// Bounds of what waits to be sent.
const (
	maxWaiting = 2048
	maxBatch   = 512
	maxDelay   = 5 * time.Second
)

// Tracer takes spans. Its goroutine runs from the first of them until Close.
type Tracer struct {
	settings Settings
	begin    sync.Once
	queue    chan Span
	ctx      context.Context // of requests
	cancel   context.CancelFunc
	stop     chan struct{}
	stopped  chan struct{}
	send     func(ctx context.Context, spans []Span) error
	lost     atomic.Int64
	mu       sync.Mutex
	why      error // of the newest loss
}

// New makes a tracer; it starts nothing.
func New(s Settings) *Tracer {
	t := &Tracer{settings: s, queue: make(chan Span, maxWaiting), stop: make(chan struct{}), stopped: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.send = newSender(s, t.stop).send
	return t
}

// Begin is where a new piece of work stands: below what started this process where that is traced,
// else in a trace of its own.
func (t *Tracer) Begin() Place {
	p := t.settings.Parent
	if p.Trace == (ID{}) {
		_, _ = rand.Read(p.Trace[:]) // it never fails
	}
	p.Sampled = t.settings.Sampler.takes(p, p.Span != SpanID{})
	return p
}

// Add hands in a span. It does not block.
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

// Close sends what waits, and gives up when ctx ends. The note says what was lost; if empty,
// nothing. No span may come after it.
func (t *Tracer) Close(ctx context.Context) (note string) {
	t.begin.Do(func() { close(t.stopped) }) // nothing ever ran
	close(t.stop)
	select {
	case <-t.stopped:
	case <-ctx.Done():
		t.cancel() // what waits is lost, and counted
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

// run collects batches and sends them, one at a time.
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
