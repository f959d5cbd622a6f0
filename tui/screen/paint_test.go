package screen

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// display obeys the few sequences that the painter writes and shows what a terminal would.
type display struct {
	rows   [][]rune
	x, y   int
	top    int // scroll region
	bottom int
	cursor bool
}

func newDisplay(w, h int) *display {
	d := &display{bottom: h}
	for range h {
		d.rows = append(d.rows, []rune(strings.Repeat(" ", w)))
	}
	return d
}

func (d *display) write(s string) error {
	for s != "" {
		if !strings.HasPrefix(s, "\x1b") {
			r := []rune(s[:1])
			if s[0] >= 0x80 {
				r = []rune(s)[:1]
			}
			d.rows[d.y][min(d.x, len(d.rows[d.y])-1)] = r[0] // without autowrap the last column takes it
			d.x++
			s = s[len(string(r[0])):]
			continue
		}
		if strings.HasPrefix(s, "\x1b]") {
			_, s, _ = strings.Cut(s, "\a")
			continue
		}
		end := strings.IndexFunc(s[2:], func(r rune) bool { return r >= '@' && r <= '~' }) + 2
		if err := d.control(s[2:end], s[end]); err != nil {
			return err
		}
		s = s[end+1:]
	}
	return nil
}

func (d *display) control(params string, final byte) error {
	a, b, _ := strings.Cut(params, ";")
	m, _ := strconv.Atoi(a)
	n, _ := strconv.Atoi(b)
	switch {
	case final == 'm' || final == 'u' || final == 't':
	case final == 'h' || final == 'l':
		if a == "?25" {
			d.cursor = final == 'h'
		}
	case final == 'H':
		d.y, d.x = m-1, n-1
	case final == 'K':
		for i := d.x; i < len(d.rows[d.y]); i++ {
			d.rows[d.y][i] = ' '
		}
	case final == 'J':
		for y := range d.rows {
			for x := range d.rows[y] {
				d.rows[y][x] = ' '
			}
		}
	case final == 'r' && params == "":
		d.top, d.bottom = 0, len(d.rows)
	case final == 'r':
		d.top, d.bottom = m-1, n
	case final == 'S':
		for y := d.top; y < d.bottom; y++ {
			if y+m < d.bottom {
				copy(d.rows[y], d.rows[y+m])
			} else {
				copy(d.rows[y], []rune(strings.Repeat(" ", len(d.rows[y]))))
			}
		}
	default:
		return fmt.Errorf("unknown control %q %c", params, final)
	}
	return nil
}

func (d *display) text() string {
	var b strings.Builder
	for _, r := range d.rows {
		b.WriteString(strings.TrimRight(string(r), " ") + "\n")
	}
	return b.String()
}

// TestPaintedIsTheFrame paints random successions of frames, scrolled, edited and resized ones, and
// compares what a terminal then shows with the last frame.
func TestPaintedIsTheFrame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		w, h := 10+rnd.IntN(20), 5+rnd.IntN(30)
		var out bytes.Buffer
		s := &Screen{out: &out, active: true, fresh: true, lost: make(chan struct{})}
		d := newDisplay(w, h)
		lines := make([]string, h)
		for step := range 30 {
			lines = change(rnd, lines, w)
			f := Frame{W: w, Cursor: step%3 > 0, CursorX: rnd.IntN(w), CursorY: rnd.IntN(h)}
			theme := draw.Color()
			for _, l := range lines {
				f.Rows = append(f.Rows, theme.Line(draw.Style(rnd.IntN(3)), safeterm.Name(l)))
			}
			out.Reset()
			s.write(f)
			if err := d.write(out.String()); err != nil {
				t.Fatal(err)
			}
			if want := strings.Join(trimmed(lines), "\n") + "\n"; d.text() != want {
				t.Fatalf("round %d step %d\nshown:\n%s\nwant:\n%s", round, step, d.text(), want)
			}
			if d.cursor != f.Cursor || f.Cursor && (d.x != f.CursorX || d.y != f.CursorY) {
				t.Fatalf("cursor %v at %d,%d, want %v at %d,%d", d.cursor, d.x, d.y, f.Cursor, f.CursorX, f.CursorY)
			}
		}
	}
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(l, " ")
	}
	return out
}

// change scrolls up, replaces some lines, or leaves all as it is.
func change(rnd *rand.Rand, lines []string, w int) []string {
	line := func() string { return strings.Repeat(string(rune('a'+rnd.IntN(26))), rnd.IntN(w+1)) }
	next := append([]string(nil), lines...)
	switch rnd.IntN(4) {
	case 0, 1:
		k := 1 + rnd.IntN(4)
		end := len(next) - rnd.IntN(3)
		copy(next[:max(end-k, 0)], lines[min(k, end):end])
		for i := max(end-k, 0); i < end; i++ {
			next[i] = line()
		}
	case 2:
		for range rnd.IntN(len(next)) {
			next[rnd.IntN(len(next))] = line()
		}
	}
	return next
}

func TestUnchangedFrameWritesNothing(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{out: &out, active: true, fresh: true, lost: make(chan struct{})}
	f := Frame{W: 10, Rows: []draw.Row{draw.Bare().Line(draw.Plain, safeterm.Fixed("x"))}}
	s.write(f)
	out.Reset()
	s.write(f)
	if out.Len() > 0 {
		t.Errorf("wrote %q", out.String())
	}
}

// TestScrollingWritesOnlyNewRows bounds the bytes of a frame by what changed.
func TestScrollingWritesOnlyNewRows(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{out: &out, active: true, fresh: true, lost: make(chan struct{})}
	frame := func(first int) Frame {
		f := Frame{W: 80}
		for i := range 40 {
			f.Rows = append(f.Rows, draw.Bare().Line(draw.Plain, safeterm.Name(strings.Repeat(fmt.Sprint(first+i, " "), 20))))
		}
		return f
	}
	s.write(frame(100))
	out.Reset()
	s.write(frame(102))
	if out.Len() > 300 {
		t.Errorf("%d bytes for two new rows: %q", out.Len(), out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestLostTerminal(t *testing.T) {
	s, err := Open(nil, broken{}, Mode{})
	if err != nil {
		t.Fatal(err)
	}
	<-s.Lost()
	if s.Err() != io.ErrClosedPipe {
		t.Errorf("error %v", s.Err())
	}
	s.Close()
	s.Close()
}

func TestSuspendAndResume(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{out: &out, lost: make(chan struct{})}
	if err := s.enter(); err != nil {
		t.Fatal(err)
	}
	f := Frame{W: 10, Rows: []draw.Row{draw.Bare().Line(draw.Plain, safeterm.Fixed("one"))}}
	s.write(f)
	s.Suspend()
	if !strings.HasSuffix(out.String(), s.mode.giveBack()) {
		t.Errorf("not given back: %q", out.String())
	}
	out.Reset()
	f.Rows = []draw.Row{draw.Bare().Line(draw.Plain, safeterm.Fixed("two"))}
	s.write(f) // while another program has the terminal
	if out.Len() > 0 {
		t.Errorf("painted in the background: %q", out.String())
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "two") {
		t.Errorf("not painted anew: %q", out.String())
	}
}
