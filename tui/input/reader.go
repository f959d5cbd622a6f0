// Package input decodes terminal input: keys, pastes, wheel and focus events.
//
// The one rule: no typed or pasted byte is lost, however the input is split.
//
// Start reading at Reader, which waits for bytes; Parser converts them to events and has no clock;
// whole (frame.go) finds where a sequence ends, paste where a paste does. Key names come from
// ultraviolet, which Bubble Tea uses too. Bubble Tea's own reader is not used: it splits a
// ten-megabyte paste into keys (180 MB), and always waits 50 ms after a lone Escape.
//
// Known limits: if a terminal does not distinguish Escape from a sequence, and a pause longer than
// the wait follows the first byte, the sequence is read as Escape and single bytes. A terminal
// message with more than half a second between two bytes is dropped.
package input

import (
	"errors"
	"io"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// Delays before a lone escape byte becomes the Escape key. A local terminal writes a sequence at
// once, so about a frame is enough; a network may split it.
const (
	waitHere = 12 * time.Millisecond
	waitFar  = 100 * time.Millisecond
)

// Wait returns the delay for the terminal described by the environment.
func Wait(env func(string) string) time.Duration {
	if env("SSH_TTY") != "" || env("SSH_CONNECTION") != "" {
		return waitFar
	}
	return waitHere
}

// Reader reads a terminal and emits events in order. The zero value with its fields set is ready.
type Reader struct {
	In io.Reader
	// Emit handles an event; while it blocks, nothing more is read. A paste that is too long
	// arrives as TooLong.
	Emit func(uv.Event)
	// Ended is called once with the cause when the input ends.
	Ended func(error)
	// Escape is the delay for a lone escape byte.
	Escape time.Duration
	// Wheel means that the terminal sends arrow keys for wheel turns.
	Wheel bool
	// Go starts a goroutine; if nil, a go statement does.
	Go func(func())

	mu   sync.Mutex
	now  *reading // nil if stopped
	over bool     // the input has ended
}

// reading is the state between Start and Stop.
type reading struct {
	cancel  func() bool // returns false if a waiting read cannot be canceled
	close   func() error
	stopped chan struct{} // closed by Stop
	done    chan struct{} // closed after the last event
}

// Start begins to read. A terminal must be in raw mode. Text typed before that contains a line feed
// for each Enter key, and is read accordingly.
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
	if c, err := uv.NewCancelReader(r.In); err == nil { // otherwise In is a file that never blocks
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

// Stop stops reading and waits for it: later input belongs to the next reader.
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
		_ = n.close() // closes the poller, not the terminal
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

// pieceBytes exceeds one read from a terminal (4 KiB on Linux).
const pieceBytes = 16 << 10

// pump reads until the end and sends the pieces. The first bytes, before, were typed in a mode that
// converts carriage returns to line feeds. It alternates between two buffers: one is parsed while
// the other is filled.
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

// parse feeds pieces to a Parser. It has a timer only while input is incomplete.
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
