// Package screen owns the terminal while the interface runs: raw mode, the alternate screen (or,
// inline, the lower part of the terminal's own), and the painting of frames.
//
// The one rule: whatever happens, Close gives the terminal back as it was; it may be called twice.
//
// Start reading at Open, then paint.go, for the inline way region.go. Bubble Tea runs the event
// loop; its own renderer is not used, for three reasons: it wakes up sixty times a second when
// nothing happens, it makes a key wait for the next of these ticks, and it parses every frame into
// cells (more than a millisecond), which alone would use up the time budget of a long answer. Here
// a frame is a list of rows, and a row that did not change costs a string comparison.
//
// Known limits: one row is the smallest thing that is repainted. A terminal that answers nothing
// and accepts no more output blocks the painter, and Close with it. Inline, a window that shrinks
// moves rows of the region into the scrollback when they do not fit any more, where nobody can
// erase them; and where a terminal breaks rows otherwise than by their width, some of them stay as
// they were. Finished rows are never written again.
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

// frameTime spaces frames: 60 a second.
const frameTime = time.Second / 60

// Frame is what the terminal shows.
type Frame struct {
	Rows []draw.Row // from the top; rows below are empty
	W, H int        // of the window: a narrower row is erased up to its end
	// Inline, Scrolled are rows that are final: they go above the others and are not part of later
	// frames. Over takes the alternate screen for as long as it is set.
	Scrolled []draw.Row
	Over     bool
	// Fresh, when it changes, has everything painted anew.
	Fresh int
	// CursorX and CursorY place the cursor; it is hidden when Cursor is false.
	Cursor           bool
	CursorX, CursorY int
	// Mouse captures wheel and clicks. Without it the terminal's own selection works.
	Mouse bool
	Title safeterm.Text
}

// Screen is an open terminal. Its methods are safe for concurrent use.
type Screen struct {
	out    io.Writer
	in     term.File // nil when the input is no terminal
	outTTY term.File

	frames chan Frame // the newest one not painted yet
	stop   chan struct{}
	done   chan struct{}
	closed sync.Once
	lost   chan struct{} // closed by the first write that failed

	way    Way
	settle time.Duration

	mu     sync.Mutex // guards what follows and writing
	raw    *term.State
	last   Frame
	fresh  bool // nothing of last is on the terminal
	active bool
	region region     // inline
	above  []draw.Row // inline: final rows that are not written yet
	over   bool       // inline: on the alternate screen
	held   *Frame     // inline: not painted until the window has settled
	size   [2]int     // inline: of the newest frames, from since on
	since  time.Time
	buf    []byte
	err    error // first write that failed
}

// Open takes the terminal over: raw mode, alternate screen unless inline, bracketed paste,
// unambiguous keys. Where in or out are no terminals, what needs one is left out.
func Open(in io.Reader, out io.Writer, way Way) (*Screen, error) {
	s := &Screen{
		way: way, settle: settleTime,
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

// Go runs f in a goroutine. When f panics, the terminal is given back before the process ends, so
// that the words of the panic can be read and the shell can be used.
func (s *Screen) Go(f func()) {
	go func() {
		defer func() {
			if r := recover(); r != nil {
				if s.mu.TryLock() { // a painter that panicked may hold it for ever
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

// Size is the terminal's size in cells; ok is false when it cannot be known.
func (s *Screen) Size() (w, h int, ok bool) {
	if s.outTTY == nil {
		return 0, 0, false
	}
	w, h, err := term.GetSize(s.outTTY.Fd())
	return w, h, err == nil && w > 0 && h > 0
}

// Lost is closed when the terminal is gone: a write failed. Err says how.
func (s *Screen) Lost() <-chan struct{} { return s.lost }

// Err is the first write that failed.
func (s *Screen) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Show hands over the newest frame; it never waits. A frame that was not painted yet is replaced,
// but for what it scrolled.
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

// Suspend gives the terminal back for a while; Resume takes it again and repaints.
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
	if s.held != nil {
		s.last = *s.held
	}
	s.write(s.last)
	return nil
}

// Close paints the newest frame no more, but for what it scrolled, and gives the terminal back.
func (s *Screen) Close() {
	s.closed.Do(func() {
		close(s.stop)
		<-s.done
		s.mu.Lock()
		defer s.mu.Unlock()
		select {
		case f := <-s.frames:
			s.above = append(s.above, f.Scrolled...)
		default:
		}
		s.leave()
	})
}

// Sequences of taking and giving back the terminal. Autowrap is off, so that a row whose width a
// terminal sees differently cannot spill into the next one.
const (
	takeModes = "\x1b[?7l\x1b[?2004h\x1b[?1004h" + // no autowrap, bracketed paste, focus
		"\x1b[?2027s\x1b[?2027h" + // count cells by grapheme cluster, where that is known
		"\x1b[22;0t" + // remember the title
		"\x1b[>4;2m" + clearKeys // modifyOtherKeys
	giveModes = anyKeys + "\x1b[>4m\x1b[23;0t" + mouseOff + "\x1b[?2027r\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[m"
	// The alternate screen, in which the wheel sends arrow keys (alternate scroll). Whether it does so
	// elsewhere is remembered, and is as it was afterwards.
	overOn    = "\x1b[?1049h\x1b[?1007s\x1b[?1007h"
	overOff   = "\x1b[?1007r\x1b[?1049l"
	clearKeys = "\x1b[>1u" // kitty keyboard: tell shift+enter from enter; each screen has its own
	anyKeys   = "\x1b[<u"
	mouseOn   = "\x1b[?1000h\x1b[?1006h"
	mouseOff  = "\x1b[?1006l\x1b[?1000l"
)

func (w Way) takeOver() string {
	if w.Inline {
		return takeModes
	}
	return overOn + takeModes
}

func (w Way) giveBack() string {
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
	s.put([]byte(s.way.takeOver()))
	return nil
}

// leave runs with mu held.
func (s *Screen) leave() {
	if !s.active {
		return
	}
	s.active = false
	b := s.toOver(nil, false)
	b = s.region.erase(b, s.above)
	s.above = nil
	s.put(append(b, s.way.giveBack()...))
	if s.raw != nil {
		_ = term.Restore(s.in.Fd(), s.raw) // the terminal may be gone; there is nothing else to try
	}
}

func (s *Screen) put(b []byte) {
	if _, err := s.out.Write(b); err != nil && s.err == nil {
		s.err = err
		close(s.lost)
	}
}
