package main

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// colour is 0xRRGGBB, one of the sixteen of the terminal's palette, or none: the default.
type colour struct {
	kind  byte // 0: default, 'p': palette, 'r': RGB
	value int
}

// look is how a cell is drawn.
type look struct {
	fg, bg                                        colour
	bold, dim, italic, underline, struck, reverse bool
}

// cell is a character at its place; wide ones take two columns.
type cell struct {
	text string
	w    int
	look look
}

// parse turns what tmux captured into rows of cells. Attributes go on from row to row until they
// are changed.
func parse(s string, w, h int) [][]cell {
	var rows [][]cell
	var now look
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if len(rows) == h {
			break
		}
		rows = append(rows, row(line, w, &now))
	}
	return rows
}

func row(line string, w int, now *look) []cell {
	var cells []cell
	col := 0
	for line != "" {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= 0x40 && r <= 0x7e })
			if end < 0 {
				return cells
			}
			if rest[end] == 'm' {
				now.set(rest[:end])
			}
			line = rest[end+1:]
			continue
		}
		if line[0] < ' ' { // shift in and out, and what else is no character
			line = line[1:]
			continue
		}
		text, width := ansi.FirstGraphemeCluster(line, ansi.GraphemeWidth)
		if col+width > w || text == "" {
			return cells
		}
		cells = append(cells, cell{text, width, *now})
		col += width
		line = line[len(text):]
	}
	return cells
}

// set obeys one SGR sequence (ECMA-48 8.3.117; 38 and 48 as in ISO 8613-6).
func (l *look) set(codes string) {
	parts := strings.FieldsFunc(codes, func(r rune) bool { return r == ';' || r == ':' })
	if len(parts) == 0 {
		parts = []string{"0"}
	}
	for i := 0; i < len(parts); i++ {
		n, _ := strconv.Atoi(parts[i])
		switch {
		case n == 38 || n == 48:
			c, used := extended(parts[i+1:])
			if n == 38 {
				l.fg = c
			} else {
				l.bg = c
			}
			i += used
		case n >= 30 && n <= 37:
			l.fg = colour{'p', n - 30}
		case n >= 90 && n <= 97:
			l.fg = colour{'p', n - 82}
		case n >= 40 && n <= 47:
			l.bg = colour{'p', n - 40}
		case n >= 100 && n <= 107:
			l.bg = colour{'p', n - 92}
		default:
			l.attribute(n)
		}
	}
}

func (l *look) attribute(n int) {
	switch n {
	case 0:
		*l = look{}
	case 1:
		l.bold = true
	case 2:
		l.dim = true
	case 3:
		l.italic = true
	case 4:
		l.underline = true
	case 7:
		l.reverse = true
	case 9:
		l.struck = true
	case 22:
		l.bold, l.dim = false, false
	case 23:
		l.italic = false
	case 24:
		l.underline = false
	case 27:
		l.reverse = false
	case 29:
		l.struck = false
	case 39:
		l.fg = colour{}
	case 49:
		l.bg = colour{}
	}
}

// extended reads what follows 38 or 48: 2;R;G;B or 5;N.
func extended(parts []string) (c colour, used int) {
	n := func(i int) int {
		if i >= len(parts) {
			return 0
		}
		v, _ := strconv.Atoi(parts[i])
		return v & 255
	}
	switch n(0) {
	case 2:
		return colour{'r', n(1)<<16 | n(2)<<8 | n(3)}, min(4, len(parts))
	case 5:
		return indexed(n(1)), min(2, len(parts))
	}
	return colour{}, min(1, len(parts))
}

// indexed is a colour of the 256: sixteen of the palette, a cube of 6×6×6 and 24 greys.
func indexed(n int) colour {
	switch {
	case n < 16:
		return colour{'p', n}
	case n >= 232:
		grey := 8 + 10*(n-232)
		return colour{'r', grey<<16 | grey<<8 | grey}
	}
	level := func(i int) int {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return colour{'r', level(n/36)<<16 | level(n/6%6)<<8 | level(n%6)}
}
