package screen

import (
	"strconv"
	"strings"
	"time"

	"adze/tui/draw"
)

// Way is how the interface uses the terminal.
type Way struct {
	// Inline leaves the terminal's own screen and scrollback in place: final rows go there for
	// good, and the rest is painted below them.
	Inline bool
	// Cuts says that a narrower window cuts rows; almost every terminal breaks them into several.
	Cuts bool
}

// WayFor chooses by the environment: xterm, rxvt, the Linux console and GNU screen cut rows.
func WayFor(inline bool, env func(string) string) Way {
	name := env("TERM")
	cuts := env("XTERM_VERSION") != "" || strings.HasPrefix(name, "rxvt") || name == "linux" || env("STY") != ""
	return Way{Inline: inline, Cuts: cuts && env("TMUX") == ""}
}

// region is the part of the terminal's own screen that is painted again and again. Where it stands
// is not known, only where the cursor is in it; so every move is relative.
type region struct {
	rows []draw.Row // as they are on the terminal
	w, h int        // of the window when they were written
	x, y int        // the cursor, in the region
}

// settleTime is how long a window must have kept its size before its region is painted anew.
// Terminals break rows before they tell of the new width, tmux up to 250 ms before, and where the
// region begins is known only for the width that they were broken for last.
const settleTime = 300 * time.Millisecond

// unsettled reports that the window may change still, so that nothing can be painted now.
func (s *Screen) unsettled(f Frame) bool {
	g, size := &s.region, [2]int{f.W, f.H}
	switch {
	case len(g.rows) == 0 || s.settle == 0:
		s.size = size
		return false
	case s.size != size:
		s.size, s.since = size, time.Now()
		g.h = -1 // also when it comes back to the size it had: rows may have been cut off meanwhile
	}
	return s.outdated(f) || g.h < 0 && time.Since(s.since) < s.settle
}

// paint writes the rows above the region for good and brings the region from its last rows to those
// of f. When anew is set, nothing that is on the terminal is relied upon but the place of the
// cursor.
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

// place shows the cursor where f wants it, or leaves it hidden.
func (g *region) place(b []byte, f Frame) []byte {
	if !f.Cursor {
		return b
	}
	g.x = min(f.CursorX, max(f.W-1, 0))
	b = column(g.to(b, min(f.CursorY, len(g.rows)-1)), g.x)
	return append(b, "\x1b[?25h"...)
}

// replace writes everything, from the first row of what is there.
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
	b = append(b, "\x1b[J"...) // nothing is known of what is below: a window that shrank may have cut it off
	b = append(b, rows[len(rows)-1].String()...)
	g.y = len(rows) - 1
	return b
}

// broken is how many rows are above the cursor after the terminal broke each row that is wider than
// w into several.
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

// change writes the rows that differ.
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
	if len(g.rows) > len(rows) { // below the first row: to erase the whole screen, some terminals scroll it
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

// erase takes the region away; the cursor stands where it began. Rows above go to the terminal for
// good.
func (g *region) erase(b []byte, above []draw.Row) []byte {
	if len(g.rows) == 0 && len(above) == 0 {
		return b
	}
	b = g.replace(b, above, []draw.Row{{}}, g.w, false)
	*g = region{}
	return b
}

// appendRow writes a row from the first column on. The whole line is erased first, not its rest
// afterwards: what tmux erased to the end of a line, it still takes for a part of it when it breaks
// lines anew.
func appendRow(b []byte, r draw.Row) []byte {
	return append(append(b, "\x1b[2K"...), r.String()...)
}

// vertical moves the cursor by n rows, up when negative. It never scrolls.
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
