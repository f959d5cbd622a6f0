package natstest

import (
	"net"
	"time"
)

// Slow has all that is said from now on arrive so much later, each way, in new connections and in
// those that are there.
func (p *Proxy) Slow(each time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slow = each
}

// StopAfter lets so many bytes of answers through, then no more, and leaves the connections open,
// as a server that stands still does.
func (p *Proxy) StopAfter(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = bytes
}

// late is a way through the proxy. What is not slow is written at once.
type late struct {
	proxy   *Proxy
	to      net.Conn
	answers bool
	pieces  chan latePiece // if nil, nothing was slow yet
	written chan struct{}
}

type latePiece struct {
	at   time.Time
	what []byte
}

// Write takes a piece on its way.
func (l *late) Write(b []byte) (int, error) {
	l.proxy.mu.Lock()
	slow, through := l.proxy.slow, len(b)
	if l.answers && l.proxy.rest >= 0 {
		through = int(min(int64(len(b)), l.proxy.rest))
		l.proxy.rest -= int64(through)
	}
	l.proxy.mu.Unlock()
	if slow == 0 && l.pieces == nil {
		_, err := l.to.Write(b[:through])
		return len(b), err
	}
	if l.pieces == nil {
		l.pieces, l.written = make(chan latePiece, 1<<10), make(chan struct{})
		go l.deliver()
	}
	l.pieces <- latePiece{time.Now().Add(slow), append([]byte{}, b[:through]...)}
	return len(b), nil
}

func (l *late) deliver() {
	defer close(l.written)
	for piece := range l.pieces {
		if wait := time.Until(piece.at); wait > 0 {
			time.Sleep(wait)
		}
		_, _ = l.to.Write(piece.what) // a connection that is closed tells it to who reads
	}
}

// end waits until all has arrived that was on its way. Nothing is written after it.
func (l *late) end() {
	if l.pieces != nil {
		close(l.pieces)
		<-l.written
	}
}
