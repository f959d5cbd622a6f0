package screen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// paper is a terminal with a scrollback that breaks lines anew when its width changes, as tmux
// does.
type paper struct {
	w, h  int
	lines []string // without trailing spaces; from the oldest on
	wraps []bool   // the line goes on in the next one
	top   int      // first line of the screen
	x, y  int      // y counts from the oldest line
}

func newPaper(w, h int) *paper { return &paper{w: w, h: h, lines: []string{""}, wraps: []bool{false}} }

func (p *paper) write(t *testing.T, s string) {
	t.Helper()
	sequence := regexp.MustCompile(`^\x1b\[([?<>0-9;]*)([a-zA-Z])`)
	for s != "" {
		if m := sequence.FindStringSubmatch(s); m != nil {
			p.control(t, m[1], m[2])
			s = s[len(m[0]):]
			continue
		}
		switch s[0] {
		case '\x1b':
			_, rest, found := strings.Cut(s, "\a")
			if !found {
				t.Fatalf("unknown sequence in %q", s)
			}
			s = rest
			continue
		case '\r':
			p.x = 0
		case '\n':
			p.to(p.y + 1)
		default:
			p.put(s[0])
		}
		s = s[1:]
	}
}

func (p *paper) put(c byte) {
	at := min(p.x, p.w-1) // no autowrap
	line := []byte(p.lines[p.y] + strings.Repeat(" ", max(at+1-len(p.lines[p.y]), 0)))
	line[at] = c
	p.lines[p.y], p.wraps[p.y] = string(line), false
	p.x = min(at+1, p.w)
}

// to goes to a line, scrolling when it is below the screen.
func (p *paper) to(y int) {
	for y >= len(p.lines) {
		p.lines, p.wraps = append(p.lines, ""), append(p.wraps, false)
	}
	p.y = y
	p.top = max(p.top, y-p.h+1)
}

func (p *paper) control(t *testing.T, params, final string) {
	n, _ := strconv.Atoi(params)
	switch final {
	case "m", "h", "l", "t", "u", "r", "s":
	case "A":
		p.y = max(p.y-n, p.top)
	case "B":
		p.y = min(p.y+n, p.top+p.h-1, len(p.lines)-1)
	case "G":
		p.x = n - 1
	case "K":
		p.lines[p.y], p.wraps[p.y] = "", false
	case "J":
		p.lines[p.y], p.wraps[p.y] = p.lines[p.y][:min(p.x, len(p.lines[p.y]))], false
		p.lines, p.wraps = p.lines[:p.y+1], p.wraps[:p.y+1]
	default:
		t.Fatalf("unknown control %q %s", params, final)
	}
}

// logical are the lines as they were before they were broken, and where the cursor is in them.
func (p *paper) logical() (lines []string, y, x int) {
	for i, l := range p.lines {
		if i == 0 || !p.wraps[i-1] {
			lines = append(lines, "")
		}
		last := len(lines) - 1
		if i == p.y {
			y, x = last, len(lines[last])+p.x
		}
		lines[last] += l
	}
	return lines, y, x
}

// resize breaks lines anew; a lower screen loses what is below the cursor before anything scrolls.
func (p *paper) resize(w, h int) {
	lines, y, x := p.logical()
	next := paper{w: w, h: h}
	for i, l := range lines {
		start := len(next.lines)
		for {
			n := min(len(l), w)
			next.lines, next.wraps = append(next.lines, l[:n]), append(next.wraps, len(l) > n)
			if l = l[n:]; l == "" {
				break
			}
		}
		if i == y {
			next.y, next.x = min(start+x/w, len(next.lines)-1), x%w
		}
	}
	if below := len(next.lines) - 1 - next.y; h < p.h && below > 0 {
		cut := min(below, p.h-h)
		next.lines, next.wraps = next.lines[:len(next.lines)-cut], next.wraps[:len(next.wraps)-cut]
	}
	next.top = max(len(next.lines)-h, 0)
	if next.y < next.top { // the cursor stays on the screen
		next.top = next.y
		next.lines, next.wraps = next.lines[:min(len(next.lines), next.top+h)], next.wraps[:min(len(next.wraps), next.top+h)]
	}
	*p = next
}

func (p *paper) text() string {
	lines, _, _ := p.logical()
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// end is the line behind the last one that is not empty.
func (p *paper) end() int {
	n := len(p.lines)
	for n > 0 && p.lines[n-1] == "" {
		n--
	}
	return n
}

// TestInlineOnPaper scrolls, grows, shrinks, resizes, opens the alternate screen's place and
// closes: what was scrolled is there once and in order, below it the region, and nothing else.
func TestInlineOnPaper(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var out bytes.Buffer
		s := &Screen{out: &out, mode: Mode{Inline: true}, lost: make(chan struct{})}
		p := newPaper(40, 20)
		p.write(t, "$ adze\r\n")
		want := []string{"$ adze"}
		if err := s.enter(); err != nil {
			t.Fatal(err)
		}
		serial := 0
		line := func(w int) draw.Row {
			serial++
			text := fmt.Sprint(serial, strings.Repeat("x", rnd.IntN(w)))
			return draw.Bare().Line(draw.Plain, safeterm.Name(text[:min(len(text), w)]))
		}
		f := Frame{W: 40, H: 20}
		for range 40 {
			f.Scrolled = nil
			switch rnd.IntN(5) {
			case 0:
				for range 1 + rnd.IntN(12) {
					r := line(f.W)
					f.Scrolled, want = append(f.Scrolled, r), append(want, r.String())
				}
			case 1: // wider or narrower, as high as the region needs
				f.W, f.H = 20+rnd.IntN(40), 16+rnd.IntN(10)
				p.resize(f.W, f.H)
				f.Rows = nil
			}
			f.Rows = append([]draw.Row(nil), f.Rows[:rnd.IntN(len(f.Rows)+1)]...)
			for len(f.Rows) < 1+rnd.IntN(4) {
				f.Rows = append(f.Rows, line(f.W))
			}
			f.CursorY = rnd.IntN(len(f.Rows))
			f.Cursor, f.CursorX = true, rnd.IntN(min(f.W, 20))
			out.Reset()
			s.write(f)
			p.write(t, out.String())
			var rows []string
			for _, r := range f.Rows {
				rows = append(rows, r.String())
			}
			if got := p.text(); got != strings.Join(append(want[:len(want):len(want)], rows...), "\n") {
				t.Fatalf("seed %d, %dx%d\n%s\nwant\n%s\n%s\nbytes %q", seed, f.W, f.H, got, strings.Join(want, "\n"), strings.Join(rows, "\n"), out.String())
			}
			if y := p.end() - len(f.Rows) + f.CursorY; p.y != y || p.x != f.CursorX {
				t.Fatalf("seed %d: the cursor is at %d,%d, want %d,%d", seed, p.x, p.y, f.CursorX, y)
			}
		}
		out.Reset()
		s.Suspend()
		p.write(t, out.String())
		if got := p.text(); got != strings.Join(want, "\n") || p.x != 0 || p.y != p.end() {
			t.Fatalf("seed %d: at the end, with the cursor at %d,%d\n%q", seed, p.x, p.y, got)
		}
	}
}

// TestInlineKeepsWhatItCannotWrite: final rows that come while another program has the terminal,
// while a pane has the alternate screen, or in a frame that is never painted, are written later,
// once and in order.
func TestInlineKeepsWhatItCannotWrite(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{out: &out, mode: Mode{Inline: true}, lost: make(chan struct{}), frames: make(chan Frame, 1), stop: make(chan struct{}), done: make(chan struct{})}
	close(s.done) // nobody paints
	if err := s.enter(); err != nil {
		t.Fatal(err)
	}
	frame := func(over bool, scrolled ...string) Frame {
		f := Frame{W: 20, H: 10, Over: over, Rows: []draw.Row{draw.Bare().Line(draw.Plain, safeterm.Fixed("region"))}}
		for _, text := range scrolled {
			f.Scrolled = append(f.Scrolled, draw.Bare().Line(draw.Plain, safeterm.Name(text)))
		}
		return f
	}
	s.write(frame(false, "one"))
	s.write(frame(true, "two"))
	s.Suspend()
	if got := out.String(); !strings.Contains(got, "two") || strings.LastIndex(got, overOff) > strings.Index(got, "two") {
		t.Errorf("before the suspension: %q", got)
	}
	s.write(frame(false, "three"))
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	s.Show(frame(false, "four"))
	s.Show(frame(false, "five"))
	s.Close()
	at := 0
	for _, text := range []string{"one", "two", "three", "four", "five"} {
		i := strings.Index(out.String()[at:], text)
		if i < 0 || strings.Count(out.String(), text) != 1 {
			t.Errorf("%s is not written once and in order: %q", text, out.String())
		}
		at += max(i, 0)
	}
	for _, pair := range [][2]string{{overOn, overOff}, {clearKeys, anyKeys}} {
		if strings.Count(out.String(), pair[0]) != strings.Count(out.String(), pair[1]) {
			t.Errorf("%q and %q are not in balance: %q", pair[0], pair[1], out.String())
		}
	}
}

// TestBytesAreBoundedByWhatChanged: one row of forty costs about one row, on both kinds of screen.
func TestBytesAreBoundedByWhatChanged(t *testing.T) {
	for _, inline := range []bool{false, true} {
		var out bytes.Buffer
		s := &Screen{out: &out, mode: Mode{Inline: inline}, active: true, fresh: true, lost: make(chan struct{})}
		f := Frame{W: 100, H: 41, Cursor: true}
		for i := range 40 {
			f.Rows = append(f.Rows, draw.Color().Line(draw.Accent, safeterm.Name(fmt.Sprint(i, strings.Repeat(" word", 18)))))
		}
		s.write(f)
		for changed := range 5 {
			next := append([]draw.Row(nil), f.Rows...)
			bound := 0
			if changed > 0 {
				bound = 50 // synchronized output and the cursor
			}
			for i := range changed {
				next[7*i] = draw.Color().Line(draw.Accent, safeterm.Name(fmt.Sprint(changed, strings.Repeat(" other", 15))))
				bound += len(next[7*i].String()) + 15
			}
			f.Rows = next
			out.Reset()
			s.write(f)
			if out.Len() > bound {
				t.Errorf("inline %v: %d bytes for %d rows, at most %d: %q", inline, out.Len(), changed, bound, out.String())
			}
		}
		f.CursorX++
		out.Reset()
		if s.write(f); out.Len() == 0 || out.Len() > 50 {
			t.Errorf("inline %v: %d bytes to move the cursor", inline, out.Len())
		}
	}
}

// TestInlineWaitsForTheWindow: a region is painted in a new size when that has not changed for a
// while; what became final meanwhile is not lost.
func TestInlineWaitsForTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s, err := Open(nil, &out, Mode{Inline: true})
		if err != nil {
			t.Fatal(err)
		}
		show := func(w, h int, text string) string {
			s.mu.Lock()
			out.Reset()
			s.mu.Unlock()
			row := func(s string) draw.Row { return draw.Bare().Line(draw.Plain, safeterm.Name(s)) }
			s.Show(Frame{W: w, H: h, Scrolled: []draw.Row{row("final " + text)}, Rows: []draw.Row{row("region " + text)}})
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			return painted(s, &out)
		}
		if got := show(80, 24, "one"); !strings.Contains(got, "region one") {
			t.Errorf("the first frame waits: %q", got)
		}
		if got := show(70, 24, "two") + show(60, 24, "three") + show(80, 24, "four"); got != "" {
			t.Errorf("painted while the size changes: %q", got)
		}
		time.Sleep(settleTime)
		synctest.Wait()
		got := painted(s, &out)
		for _, text := range []string{"final two", "final three", "final four", "region four"} {
			if strings.Count(got, text) != 1 {
				t.Errorf("%q is not painted once: %q", text, got)
			}
		}
		s.Close()
	})
}

func painted(s *Screen, out *bytes.Buffer) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return out.String()
}
