package draw

import (
	"fmt"
	"strconv"
	"strings"
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

// pairs reads a unified diff for two columns: removed lines stand beside those that came in their
// place.
func pairs(diff string) []patchLine {
	var s splitter
	for line := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		s.line(strings.TrimSuffix(line, "\r"))
	}
	s.flush()
	return s.lines
}

type splitter struct {
	lines    []patchLine
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
		s.lines = append(s.lines, patchLine{whole: line, style: Hunk})
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
		s.lines = append(s.lines, patchLine{whole: line, style: Dim})
	default:
		s.flush()
		text := strings.TrimPrefix(line, " ")
		s.lines = append(s.lines, patchLine{pair: true, l: cell{s.old, Plain, text}, r: cell{s.new, Plain, text}})
		s.old, s.new = s.old+1, s.new+1
	}
}

// flush pairs the removed lines with those that came in their place.
func (s *splitter) flush() {
	for i := range max(len(s.gone), len(s.come)) {
		var l, r cell
		if i < len(s.gone) {
			l = cell{s.old, Removed, s.gone[i]}
			s.old++
		}
		if i < len(s.come) {
			r = cell{s.new, Added, s.come[i]}
			s.new++
		}
		s.lines = append(s.lines, patchLine{pair: true, alike: l.number > 0 && r.number > 0, l: l, r: r})
	}
	s.gone, s.come = s.gone[:0], s.come[:0]
}

// cell is one line at one side; number 0: nothing is there.
type cell struct {
	number int
	style  Style
	text   string
}

// numberWidth is the room for line numbers; longer ones push their line to the right.
const numberWidth = 4

// margin is the width of what stands before the text.
func (c cell) margin() int { return max(numberWidth, len(strconv.Itoa(c.number))) + 2 }

// head is what stands before the text: its number and what happened to it.
func (c cell) head(t *Theme) Row {
	mark := map[Style]string{Plain: "  ", Removed: " -", Added: " +"}[c.style]
	n := strconv.Itoa(c.number)
	ground := groundOf(c.style)
	number := Dim
	if ground != 0 {
		number = t.changed(c.style)
	}
	return t.Pen().Fill(ground, numberWidth-len(n)).Pad(numberWidth-len(n)).Fixed(number, n).Fixed(t.changed(c.style), mark).Done()
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
