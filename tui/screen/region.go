package screen

import (
	"strconv"
	"strings"
	"time"

	"adze/tui/draw"
)

// Mode selects how the interface uses the terminal.
type Mode struct {
	// Inline keeps the terminal's own screen and scrollback: final rows are written once, and the
	// rest is painted below them.
	Inline bool
	// Cuts means that a narrower window truncates rows; almost every terminal wraps them instead.
	Cuts bool
}

// WayFor chooses by the environment: xterm, rxvt, the Linux console and GNU screen truncate rows.
func WayFor(inline bool, env func(string) string) Mode {
	name := env("TERM")
	cuts := env("XTERM_VERSION") != "" || strings.HasPrefix(name, "rxvt") || name == "linux" || env("STY") != ""
	return Mode{Inline: inline, Cuts: cuts && env("TMUX") == ""}
}

// region is the repainted part of the terminal's own screen. Its position is unknown, except for
// the cursor in it, so every move is relative.
type region struct {
	rows []draw.Row // rows on the terminal
	w, h int        // window size when they were written
	x, y int        // cursor in the region
}

// settleTime is the time after a change of the window's size before the region is repainted.
// Terminals wrap rows before they report the new width, tmux up to 250 ms before, and the region's
// start can be computed only for the last width they were wrapped for.
const settleTime = 300 * time.Millisecond

// unsettled reports whether the window may still change, so that nothing can be painted.
func (s *Screen) unsettled(f Frame) bool {
	g, size := &s.region, [2]int{f.W, f.H}
	switch {
	case len(g.rows) == 0 || s.settle == 0:
		s.size = size
		return false
	case s.size != size:
		s.size, s.since = size, time.Now()
		g.h = -1 // even at the old size, because rows may have been truncated meanwhile
	}
	return s.outdated(f) || g.h < 0 && time.Since(s.since) < s.settle
}

// paint writes the rows above the region and updates the region to f. With anew it relies only on
// the cursor position.
func (g *region) paint(b []byte, above []draw.Row, f Frame, anew, cuts bool) []byte {
	rows := f.Rows
	if len(rows) == 0 {
		rows = []draw.Row{{}}
	}
	if anew || len(above) > 0 || f.W != g.w || f.H != g.h || len(g.rows) == 0 {
		b = g.replace(b, above, rows, f.W, cuts)
	} else {
		b = g.change(b, rows)
	}
	g.rows, g.w, g.h = rows, f.W, f.H
	return b
}

// place shows the cursor at its position in f, or leaves it hidden.
func (g *region) place(b []byte, f Frame) []byte {
	if !f.Cursor {
		return b
	}
	g.x = min(f.CursorX, max(f.W-1, 0))
	b = column(g.to(b, min(f.CursorY, len(g.rows)-1)), g.x)
	return append(b, "\x1b[?25h"...)
}

// replace writes everything, beginning at the region's first row.
func (g *region) replace(b []byte, above, rows []draw.Row, w int, cuts bool) []byte {
	up := g.y
	if w < g.w && !cuts {
		up = g.broken(w)
	}
	b = append(vertical(b, -up), "\r\x1b[m"...)
	for _, r := range above {
		b = append(appendRow(b, r), "\r\n"...)
	}
	for _, r := range rows[:len(rows)-1] {
		b = append(appendRow(b, r), "\r\n"...)
	}
	b = append(b, "\x1b[J"...) // rows below are unknown: a smaller window may have truncated them
	b = append(b, rows[len(rows)-1].String()...)
	g.y = len(rows) - 1
	return b
}

// broken returns the number of rows above the cursor after the terminal has wrapped rows wider than
// w.
func (g *region) broken(w int) int {
	if g.y >= len(g.rows) {
		return g.y
	}
	up := 0
	for _, r := range g.rows[:g.y] {
		up += max((r.Width()+w-1)/w, 1)
	}
	if g.rows[g.y].Width() > w {
		up += g.x / w
	}
	return up
}

// change writes changed rows.
func (g *region) change(b []byte, rows []draw.Row) []byte {
	for y, r := range rows {
		switch {
		case y >= len(g.rows):
			b = append(g.to(b, y-1), "\r\n"...)
			g.y = y
		case g.rows[y] == r:
			continue
		default:
			b = append(g.to(b, y), '\r')
		}
		b = appendRow(b, r)
	}
	if len(g.rows) > len(rows) { // not from the first row: some terminals scroll when the whole screen is erased
		b = append(g.to(b, len(rows)), "\r\x1b[J"...)
	}
	return b
}

// to moves the cursor to a row of the region.
func (g *region) to(b []byte, y int) []byte {
	b = vertical(b, y-g.y)
	g.y = y
	return b
}

// erase removes the region and leaves the cursor at its start, after writing the rows above.
func (g *region) erase(b []byte, above []draw.Row) []byte {
	if len(g.rows) == 0 && len(above) == 0 {
		return b
	}
	b = g.replace(b, above, []draw.Row{{}}, g.w, false)
	*g = region{}
	return b
}

// appendRow writes a row from the first column. It erases the line first, not its rest afterwards:
// tmux treats cells erased to the end of a line as part of it when it wraps lines again.
func appendRow(b []byte, r draw.Row) []byte {
	return append(append(b, "\x1b[2K"...), r.String()...)
}

// vertical moves the cursor by n rows, up if negative. It never scrolls.
func vertical(b []byte, n int) []byte {
	switch {
	case n < 0:
		b = append(strconv.AppendInt(append(b, "\x1b["...), int64(-n), 10), 'A')
	case n > 0:
		b = append(strconv.AppendInt(append(b, "\x1b["...), int64(n), 10), 'B')
	}
	return b
}

func column(b []byte, x int) []byte {
	return append(strconv.AppendInt(append(b, "\x1b["...), int64(x+1), 10), 'G')
}
