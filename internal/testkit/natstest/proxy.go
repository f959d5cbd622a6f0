package natstest

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy carries connections to a server and cuts them.
type Proxy struct {
	listener net.Listener
	target   string

	mu     sync.Mutex // guards what follows
	closed bool
	open   map[net.Conn]bool
	traps  []*trap
	slow   time.Duration
	rest   int64 // what of answers still gets through; negative: all
	all    sync.WaitGroup
}

// trap waits for something that a client says.
type trap struct {
	words   []byte
	forward bool
	sprung  chan struct{}
}

// NewProxy carries connections to an address until the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, target: target, open: map[net.Conn]bool{}, rest: -1}
	p.all.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.Cut()
		p.all.Wait()
	})
	return p
}

// URL is where clients connect.
func (p *Proxy) URL() string { return "nats://" + p.listener.Addr().String() }

// Cut ends all connections and refuses new ones until Mend.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
}

// Mend lets connections through again.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = false
}

// CutAfter cuts once as soon as a client has said the words and the server has got them; its answer
// goes nowhere. The channel is closed then. New connections get through.
func (p *Proxy) CutAfter(words string) <-chan struct{} { return p.trap(words, true) }

// CutBefore cuts once when a client says the words, which the server does not get.
func (p *Proxy) CutBefore(words string) <-chan struct{} { return p.trap(words, false) }

func (p *Proxy) trap(words string, forward bool) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &trap{[]byte(words), forward, make(chan struct{})}
	p.traps = append(p.traps, t)
	return t.sprung
}

// spring gives the trap that a piece of what a client says falls into; if nil, none.
func (p *Proxy) spring(said []byte) *trap {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range p.traps {
		if bytes.Contains(said, t.words) {
			p.traps = append(p.traps[:i:i], p.traps[i+1:]...)
			return t
		}
	}
	return nil
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil || !p.enter(client, server) {
			client.Close()
			if server != nil {
				server.Close()
			}
			continue
		}
		p.all.Go(func() { p.carry(client, server) })
	}
}

func (p *Proxy) enter(both ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	for _, c := range both {
		p.open[c] = true
	}
	return true
}

// carry goes on until either side ends.
func (p *Proxy) carry(client, server net.Conn) {
	back, forth := &late{proxy: p, to: client, answers: true}, &late{proxy: p, to: server}
	answers := &answers{to: back, muted: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = io.Copy(answers, server)
		answers.once.Do(func() { close(answers.muted) })
		back.end()
		client.Close()
	})
	wg.Go(func() {
		p.listen(client, forth, answers)
		forth.end()
		server.Close()
		client.Close()
	})
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
	delete(p.open, server)
}

func (p *Proxy) listen(client net.Conn, to io.Writer, answers *answers) {
	piece := make([]byte, 64<<10)
	for {
		n, err := client.Read(piece)
		if n > 0 {
			t := p.spring(piece[:n])
			if t != nil && t.forward {
				answers.mute()
				_, _ = to.Write(piece[:n])
				<-answers.muted // the first answer after it, or the end
			}
			if t != nil {
				close(t.sprung)
				return
			}
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// answers are what a server says, until they are muted.
type answers struct {
	to    io.Writer
	mu    sync.Mutex
	quiet bool
	once  sync.Once
	muted chan struct{}
}

func (a *answers) mute() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.quiet = true
}

func (a *answers) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.quiet {
		a.once.Do(func() { close(a.muted) })
		return len(b), nil
	}
	return a.to.Write(b)
}
