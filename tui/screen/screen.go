// Package screen owns the terminal while the interface runs: raw mode, the alternate screen (or,
// inline, the lower part of the terminal's own), and painting.
//
// The one rule: Close always restores the terminal; it may be called twice.
//
// Start reading at Open, then paint.go, and region.go for the inline interface. Bubble Tea runs the
// event loop, but its renderer is not used: it wakes up sixty times a second without any change, it
// delays each key to the next tick, and it parses every frame into cells (more than a millisecond),
// which would exhaust the time budget of a long answer. Here a frame is a list of rows, and an
// unchanged row costs a string comparison.
//
// Known limits: a row is the smallest repainted unit. A terminal that accepts no output blocks the
// painter and Close. Inline, a shrinking window moves region rows that no longer fit into the
// scrollback, where they cannot be erased; if a terminal wraps rows differently, some of them stay.
// Final rows are never rewritten.
package screen

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// frameTime is the minimum interval between frames: 60 a second.
const frameTime = time.Second / 60

// Frame is the content of the terminal.
type Frame struct {
	Rows []draw.Row // from the top; rows below are empty
	W, H int        // window size; a narrower row is erased to its end
	// Inline, Scrolled holds final rows, which go above the others and are not part of later
	// frames. Over enters the alternate screen while it is set.
	Scrolled []draw.Row
	Over     bool
	// Fresh repaints everything when its value changes.
	Fresh int
	// CursorX and CursorY place the cursor; it is hidden if Cursor is false.
	Cursor           bool
	CursorX, CursorY int
	// Mouse captures wheel and clicks. Without it the terminal's own selection works.
	Mouse bool
	Title safeterm.Text
}

// Screen is an open terminal. Its methods are safe for concurrent use.
type Screen struct {
	out    io.Writer
	in     term.File // nil if the input is no terminal
	outTTY term.File

	frames chan Frame // latest unpainted frame
	stop   chan struct{}
	done   chan struct{}
	closed sync.Once
	lost   chan struct{} // closed by the first failed write

	mode   Mode
	settle time.Duration

	mu        sync.Mutex // guards the fields below and writing
	raw       *term.State
	last      Frame
	fresh     bool // last is not on the terminal
	active    bool
	region    region     // inline only
	unwritten []draw.Row // inline: unwritten final rows
	over      bool       // inline: on the alternate screen
	waiting   *Frame     // inline: waiting until the window has settled
	size      [2]int     // inline: size of recent frames, unchanged since since
	since     time.Time
	buf       []byte
	err       error // first write error
}

// Open takes over the terminal: raw mode, alternate screen unless inline, bracketed paste, kitty
// keyboard protocol. If in or out is no terminal, it omits the modes that need one.
func Open(in io.Reader, out io.Writer, way Mode) (*Screen, error) {
	s := &Screen{
		mode: way, settle: settleTime,
		out: out, in: asTerminal(in), outTTY: asTerminal(out),
		frames: make(chan Frame, 1), stop: make(chan struct{}), done: make(chan struct{}),
		lost: make(chan struct{}),
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	s.Go(s.paintFrames)
	return s, nil
}

// Go runs f in a goroutine. If f panics, it restores the terminal before the process ends, so that
// the message is readable and the shell usable.
func (s *Screen) Go(f func()) {
	go func() {
		defer func() {
			if r := recover(); r != nil {
				if s.mu.TryLock() { // a painter that panicked may hold it forever
					defer s.mu.Unlock()
				}
				s.leave()
				panic(r)
			}
		}()
		f()
	}()
}

func asTerminal(x any) term.File {
	if f, ok := x.(term.File); ok && term.IsTerminal(f.Fd()) {
		return f
	}
	return nil
}

// Size returns the terminal's size in cells; ok is false if it is unknown.
func (s *Screen) Size() (w, h int, ok bool) {
	if s.outTTY == nil {
		return 0, 0, false
	}
	w, h, err := term.GetSize(s.outTTY.Fd())
	return w, h, err == nil && w > 0 && h > 0
}

// Lost returns a channel that is closed after a failed write. Err returns the error.
func (s *Screen) Lost() <-chan struct{} { return s.lost }

// Err returns the first write error.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Show passes the latest frame and never blocks. It replaces an unpainted frame, except for its
// scrolled rows.
func (s *Screen) Show(f Frame) {
	for {
		select {
		case s.frames <- f:
			return
		default:
		}
		select {
		case missed := <-s.frames:
			f.Scrolled = append(slices.Clip(missed.Scrolled), f.Scrolled...)
		default:
		}
	}
}

// Suspend restores the terminal for a while; Resume takes it over again and repaints.
func (s *Screen) Suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
}

// Resume undoes Suspend.
func (s *Screen) Resume() error {
	if err := s.enter(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting != nil {
		s.last = *s.waiting
	}
	s.write(s.last)
	return nil
}

// Close restores the terminal. It paints only scrolled rows of the latest frame.
func (s *Screen) Close() {
	s.closed.Do(func() {
		close(s.stop)
		<-s.done
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case f := <-s.frames:
			s.unwritten = append(s.unwritten, f.Scrolled...)
		default:
		}
		s.leave()
	})
}

// Sequences to take over and restore the terminal. Autowrap is off, so that a row whose width the
// terminal counts differently cannot wrap.
const (
	takeModes = "\x1b[?7l\x1b[?2004h\x1b[?1004h" + // no autowrap, bracketed paste, focus
		"\x1b[?2027s\x1b[?2027h" + // count cells by grapheme cluster, if supported
		"\x1b[22;0t" + // save the title
		"\x1b[>4;2m" + clearKeys // modifyOtherKeys
	giveModes = anyKeys + "\x1b[>4m\x1b[23;0t" + mouseOff + "\x1b[?2027r\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[m"
	// The alternate screen, where the wheel sends arrow keys (alternate scroll). That mode is saved
	// and restored.
	overOn    = "\x1b[?1049h\x1b[?1007s\x1b[?1007h"
	overOff   = "\x1b[?1007r\x1b[?1049l"
	clearKeys = "\x1b[>1u" // kitty keyboard: distinguish shift+enter from enter; each screen has its own state
	anyKeys   = "\x1b[<u"
	mouseOn   = "\x1b[?1000h\x1b[?1006h"
	mouseOff  = "\x1b[?1006l\x1b[?1000l"
)

func (w Mode) takeOver() string {
	if w.Inline {
		return takeModes
	}
	return overOn + takeModes
}

func (w Mode) giveBack() string {
	if w.Inline {
		return giveModes
	}
	return giveModes + overOff
}

func (s *Screen) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active {
		return nil
	}
	if s.outTTY != nil {
		interpret(s.outTTY.Fd())
	}
	if s.in != nil {
		raw, err := term.MakeRaw(s.in.Fd())
		if err != nil {
			return err
		}
		s.raw = raw
	}
	s.active, s.fresh = true, true
	s.emit([]byte(s.mode.takeOver()))
	return nil
}

// leave restores the terminal. The caller must hold mu.
func (s *Screen) leave() {
	if !s.active {
		return
	}
	s.active = false
	b := s.toOver(nil, false)
	b = s.region.erase(b, s.unwritten)
	s.unwritten = nil
	s.emit(append(b, s.mode.giveBack()...))
	if s.raw != nil {
		_ = term.Restore(s.in.Fd(), s.raw) // the terminal may be gone, and there is no alternative
	}
}

func (s *Screen) emit(b []byte) {
	if _, err := s.out.Write(b); err != nil && s.err == nil {
		s.err = err
		close(s.lost)
	}
}
