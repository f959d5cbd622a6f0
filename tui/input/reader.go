// Package input reads what a user does with the terminal: its bytes become keys, pastes, turns of
// the wheel and news of the focus.
//
// The one rule: nothing that was typed or pasted is lost, wherever the bytes are cut into pieces.
//
// Start reading at Reader, which waits for bytes; Parser makes events of them and knows no clock;
// whole (frame.go) says where a sequence ends, paste where a paste does. Names of keys come from
// ultraviolet, which Bubble Tea uses too. Bubble Tea's own reader is not used: it takes ten
// megabytes of a paste apart key by key (180 MB), and lets a lone Escape wait 50 ms everywhere.
//
// Known limits: where a terminal does not tell Escape from the beginning of a sequence, a sequence
// that is torn right behind its first byte for longer than the wait is read as Escape and, byte by
// byte, as what follows. A message of a terminal that takes longer than half a second between two
// bytes is dropped.
package input

import (
	"errors"
	"io"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// How long an escape byte with nothing behind it waits until it is the Escape key. A terminal on
// this machine writes a sequence at once, so a frame's time is plenty; a network may tear it.
const (
	waitHere = 12 * time.Millisecond
	waitFar  = 100 * time.Millisecond
)

// Wait is the time that suits the terminal which the environment tells of.
func Wait(env func(string) string) time.Duration {
	if env("SSH_TTY") != "" || env("SSH_CONNECTION") != "" {
		return waitFar
	}
	return waitHere
}

// Reader reads a terminal and hands on events, in order. The zero value with its fields set is
// ready.
type Reader struct {
	In io.Reader
	// Emit takes each event; while it blocks, nothing more is read. Pastes that are too long come
	// as TooLong.
	Emit func(uv.Event)
	// Ended is told once when there is nothing more to read, and why.
	Ended func(error)
	// Escape is how long a lone escape byte waits.
	Escape time.Duration
	// Wheel says that the terminal sends arrow keys when the wheel turns.
	Wheel bool
	// Go starts a goroutine; if nil, the go statement does.
	Go func(func())

	mu   sync.Mutex
	now  *reading // if nil, nothing reads
	over bool     // the input ended
}

// reading is the time between Start and Stop.
type reading struct {
	cancel  func() bool // if false, a waiting read cannot be ended
	close   func() error
	stopped chan struct{} // closed by Stop
	done    chan struct{} // closed when the last event was handed on
}

// Start begins to read. A terminal must be in raw mode by then. Text that was typed before has a
// line feed for each Enter key, and is read as that key.
func (r *Reader) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil || r.over || r.In == nil {
		return
	}
	from := r.In
	n := &reading{
		cancel: func() bool { return false }, close: func() error { return nil },
		stopped: make(chan struct{}), done: make(chan struct{}),
	}
	if c, err := uv.NewCancelReader(r.In); err == nil { // else it is a file that can always be read
		from, n.cancel, n.close = c, c.Cancel, c.Close
	}
	r.now = n
	pieces := make(chan []byte)
	var cause error
	start := r.Go
	if start == nil {
		start = func(f func()) { go f() }
	}
	before := waiting(r.In)
	start(func() { cause = pump(from, before, pieces, n.stopped) })
	start(func() {
		defer close(n.done)
		r.parse(pieces)
		select {
		case <-n.stopped:
		default:
			r.end(cause)
		}
	})
}

// Stop ends reading and returns when nothing reads any more: what is typed now belongs to whoever
// reads next.
func (r *Reader) Stop() {
	r.mu.Lock()
	n := r.now
	r.now = nil
	r.mu.Unlock()
	if n == nil {
		return
	}
	close(n.stopped)
	if n.cancel() {
		<-n.done
		_ = n.close() // of what waits, not of the terminal
	}
}

func (r *Reader) end(cause error) {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	if cause == nil {
		cause = io.EOF
	}
	if r.Ended != nil {
		r.Ended(cause)
	}
}

// pieceBytes is more than a terminal hands over at once (4 KiB on Linux).
const pieceBytes = 16 << 10

// pump hands on what it reads until there is no more. The first bytes, before, were typed in a mode
// that turns carriage returns into line feeds. The two buffers take turns: one is parsed while the
// other is filled.
func pump(from io.Reader, before int, pieces chan<- []byte, stopped <-chan struct{}) error {
	defer close(pieces)
	var buffers [2][pieceBytes]byte
	for i := 0; ; i++ {
		n, err := from.Read(buffers[i%2][:])
		if n > 0 {
			early := buffers[i%2][:min(n, before)]
			before -= len(early)
			for j, b := range early {
				if b == '\n' {
					early[j] = '\r'
				}
			}
			pieces <- buffers[i%2][:n]
		}
		if err == nil {
			continue
		}
		select {
		case <-stopped:
			return nil
		default:
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	}
}

// parse makes events of pieces. It has a timer only while something is not whole.
func (r *Reader) parse(pieces <-chan []byte) {
	p := Parser{Emit: r.Emit, Escape: r.Escape, Wheel: r.Wheel}
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		var expired <-chan time.Time
		if wait := p.Waits(); wait > 0 {
			timer.Reset(wait)
			expired = timer.C
		}
		select {
		case piece, more := <-pieces:
			timer.Stop()
			if !more {
				p.Expire()
				return
			}
			p.Feed(piece)
		case <-expired:
			p.Expire()
		}
	}
}
