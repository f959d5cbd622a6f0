package draw

import (
	"fmt"
	"strconv"
	"strings"

	"adze/internal/safeterm"
	"adze/tool"
	"adze/tui/draw/highlight"
)

// Count counts the added and removed lines of a unified diff.
func Count(diff string) (added, removed int) {
	inHunk := false
	for line := range strings.SplitSeq(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case !inHunk: // the two header lines begin with +++ and ---
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// Split appends a unified diff with the old lines at the left and the new ones at the right. Lines that are
// longer than a side are cut there.
func (t *Theme) Split(dst []Row, b tool.Block, w int) []Row {
	s := splitter{theme: t, side: (w - 3) / 2, w: w, rows: dst}
	if len(b.Text) <= maxHighlight {
		s.lang = highlight.ForFile(b.Path)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(b.Text, "\n"), "\n") {
		s.line(strings.TrimSuffix(line, "\r"))
	}
	s.flush()
	return s.rows
}

type splitter struct {
	theme    *Theme
	lang     highlight.Language
	w, side  int
	rows     []Row
	inHunk   bool
	old, new int // numbers of the next lines
	gone     []string
	come     []string
}

func (s *splitter) line(line string) {
	switch {
	case strings.HasPrefix(line, "@@"):
		s.flush()
		s.inHunk = true
		s.old, s.new = hunkStarts(line)
		s.rows = append(s.rows, s.theme.Line(Hunk, safeterm.Reveal(line)).Fit(s.w))
	case !s.inHunk:
	case strings.HasPrefix(line, "-"):
		if len(s.come) > 0 {
			s.flush()
		}
		s.gone = append(s.gone, line[1:])
	case strings.HasPrefix(line, "+"):
		s.come = append(s.come, line[1:])
	case strings.HasPrefix(line, `\`):
		s.flush()
		s.rows = append(s.rows, s.theme.Line(Dim, safeterm.Reveal(line)).Fit(s.w))
	default:
		s.flush()
		text := strings.TrimPrefix(line, " ")
		s.row(newCell(s.old, Plain, text), newCell(s.new, Plain, text))
		s.old, s.new = s.old+1, s.new+1
	}
}

// flush pairs the removed lines with those that came in their place.
func (s *splitter) flush() {
	for i := range max(len(s.gone), len(s.come)) {
		var l, r cell
		if i < len(s.gone) {
			l = newCell(s.old, Removed, s.gone[i])
			s.old++
		}
		if i < len(s.come) {
			r = newCell(s.new, Added, s.come[i])
			s.new++
		}
		if l.number > 0 && r.number > 0 {
			compare(&l.diffLine, &r.diffLine)
		}
		s.row(l, r)
	}
	s.gone, s.come = nil, nil
}

// cell is one line at one side; number 0: nothing is there.
type cell struct {
	number int
	diffLine
}

func newCell(number int, s Style, text string) cell {
	return cell{number, diffLine{style: s, text: flat(safeterm.Reveal(text).String(), 0)}}
}

func (s *splitter) row(l, r cell) {
	left := s.cell(l)
	s.rows = append(s.rows, s.theme.Pen().Row(left).Pad(s.side).Fixed(Border, " │ ").Row(s.cell(r)).Done())
}

// numberWidth is the room for line numbers; longer ones push their line to the right.
const numberWidth = 4

func (s *splitter) cell(c cell) Row {
	if c.number == 0 {
		return Row{}
	}
	mark := map[Style]string{Plain: "  ", Removed: " -", Added: " +"}[c.style]
	n := strconv.Itoa(c.number)
	p := s.theme.Pen().Pad(numberWidth-len(n)).Fixed(Dim, n).Fixed(c.style, mark)
	line := join(paint(s.lang, c.diffLine))
	line.put(p, 0, len(line.text))
	return p.Done().Fit(s.side)
}

// hunkStarts reads "@@ -12,5 +14,6 @@"; lines are counted from 1 when it cannot be read.
func hunkStarts(line string) (old, new int) {
	var from, to string
	if _, err := fmt.Sscanf(line, "@@ %s %s", &from, &to); err != nil {
		return 1, 1
	}
	return hunkStart(from), hunkStart(to)
}

func hunkStart(s string) int {
	at, _, _ := strings.Cut(strings.TrimLeft(s, "+-"), ",")
	n, err := strconv.Atoi(at)
	if err != nil || n < 1 {
		return 1
	}
	return n
}
