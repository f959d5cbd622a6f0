package screen

import (
	"strconv"
	"time"

	"adze/tui/draw"
)

// paintFrames paints the latest frame, at most once per frameTime. Without a new frame it sleeps
// without a timer.
func (s *Screen) paintFrames() {
	defer close(s.done)
	wait, settled := time.NewTimer(0), time.NewTimer(0)
	defer wait.Stop()
	defer settled.Stop()
	<-wait.C
	<-settled.C
	for {
		s.mu.Lock()
		if s.waiting != nil {
			settled.Reset(s.settle)
		}
		s.mu.Unlock()
		select {
		case <-s.stop:
			return
		case f := <-s.frames:
			s.mu.Lock()
			s.write(f)
			s.mu.Unlock()
		case <-settled.C:
			s.mu.Lock()
			if s.waiting != nil {
				s.write(*s.waiting)
			}
			s.mu.Unlock()
		}
		wait.Reset(frameTime)
		select {
		case <-s.stop:
			return
		case <-wait.C:
		}
	}
}

// write paints f over the last frame. The caller must hold mu.
func (s *Screen) write(f Frame) {
	s.unwritten, f.Scrolled, s.waiting = append(s.unwritten, f.Scrolled...), nil, nil
	last := s.last
	s.last = f
	if !s.active {
		return
	}
	if s.mode.Inline && !f.Over {
		if s.unsettled(f) {
			s.last, s.waiting = last, &f
			return
		}
		s.writeInline(last, f)
		return
	}
	b := append(s.buf[:0], "\x1b[?2026h\x1b[?25l"...) // synchronized output, if supported
	start := len(b)
	b = s.toOver(b, f.Over)
	if s.fresh || len(b) > start || f.Fresh != last.Fresh || f.W != last.W || len(f.Rows) != len(last.Rows) {
		b = append(b, "\x1b[m\x1b[2J"...)
		last = Frame{}
	}
	b = appendRows(b, last.Rows, f.Rows, f.W)
	b = appendModes(b, last, f)
	if len(b) > start || cursorMoved(last, f) {
		b = appendCursor(b, f)
		b = append(b, "\x1b[?2026l"...)
		s.emit(b)
	}
	s.fresh = false
	s.buf = b[:0]
}

// writeInline is write for the inline region.
func (s *Screen) writeInline(last, f Frame) {
	b := append(s.buf[:0], "\x1b[?2026h\x1b[?25l"...)
	start := len(b)
	b = s.toOver(b, false)
	if s.fresh {
		last = Frame{}
	}
	b = s.region.paint(b, s.unwritten, f, s.fresh || f.Fresh != last.Fresh, s.mode.Cuts)
	s.unwritten = nil
	b = appendModes(b, last, f)
	if len(b) > start || cursorMoved(last, f) {
		b = s.region.place(b, f)
		b = append(b, "\x1b[?2026l"...)
		s.emit(b)
	}
	s.fresh = false
	s.buf = b[:0]
}

// toOver enters or leaves the alternate screen of an inline interface.
func (s *Screen) toOver(b []byte, over bool) []byte {
	if !s.mode.Inline || over == s.over {
		return b
	}
	s.over = over
	if over {
		return append(b, overOn+clearKeys...)
	}
	return append(b, anyKeys+overOff...)
}

// appendModes updates mouse and title.
func appendModes(b []byte, last, f Frame) []byte {
	if f.Mouse != last.Mouse {
		b = append(b, map[bool]string{true: mouseOn, false: mouseOff}[f.Mouse]...)
	}
	if f.Title != last.Title {
		b = append(append(append(b, "\x1b]2;"...), f.Title.String()...), '\a')
	}
	return b
}

func cursorMoved(a, b Frame) bool {
	return a.Cursor != b.Cursor || a.CursorX != b.CursorX || a.CursorY != b.CursorY
}

func appendCursor(b []byte, f Frame) []byte {
	if !f.Cursor {
		return b
	}
	b = moveTo(b, f.CursorX, f.CursorY)
	return append(b, "\x1b[?25h"...)
}

func moveTo(b []byte, x, y int) []byte {
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(y+1), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(x+1), 10)
	return append(b, 'H')
}

// appendRows writes changed rows.
func appendRows(b []byte, old, rows []draw.Row, w int) []byte {
	old, b = scrolled(b, old, rows)
	for y := range max(len(old), len(rows)) {
		was, is := rowAt(old, y), rowAt(rows, y)
		if was == is {
			continue
		}
		b = moveTo(b, 0, y)
		b = append(b, is.String()...)
		if is.Width() < w { // at the last column, erasing would remove the last character
			b = append(b, "\x1b[K"...)
		}
	}
	return b
}

func rowAt(rows []draw.Row, y int) draw.Row {
	if y < len(rows) {
		return rows[y]
	}
	return draw.Row{}
}

// minScroll is the number of rows that scrolling must save.
const minScroll = 5

// scrolled scrolls rows up if many of old reappear k rows higher, and returns the rows then on the
// screen.
func scrolled(b []byte, old, rows []draw.Row) ([]draw.Row, []byte) {
	n := min(len(old), len(rows))
	same := unchanged(old[:n], rows[:n])
	if n-same < minScroll {
		return old, b
	}
	top, end, k := 0, 0, 0
	for by := 1; by < n/2; by++ {
		if from, to := sameRun(old[by:n], rows[:n-by]); to-from > end-top {
			top, end, k = from, to, by
		}
	}
	if end-top < minScroll || end-top <= same {
		return old, b
	}
	bottom := end + k // rows top..bottom of the screen scroll up by k
	b = append(b, "\x1b["...)
	b = strconv.AppendInt(b, int64(top+1), 10)
	b = append(b, ';')
	b = strconv.AppendInt(b, int64(bottom), 10)
	b = append(b, "r\x1b["...)
	b = strconv.AppendInt(b, int64(k), 10)
	b = append(b, "S\x1b[r"...)
	next := append([]draw.Row(nil), old...)
	copy(next[top:end], old[top+k:bottom])
	clear(next[end:bottom])
	return next, b
}

// sameRun returns the longest run of equal rows.
func sameRun(a, b []draw.Row) (from, to int) {
	start := 0
	for i := range a {
		if a[i] != b[i] {
			start = i + 1
		} else if i+1-start > to-from {
			from, to = start, i+1
		}
	}
	return from, to
}

func unchanged(a, b []draw.Row) int {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}
