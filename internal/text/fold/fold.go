// Package fold shortens repetitive text for a model: equal lines, repeated blocks, counters,
// timestamps and progress become one row with an exact count, and long lists of links are
// shortened.
//
// The one rule: rows are folded only if the count and the neighboring rows contain all useful
// information. Lines with other differing numbers, such as measurements, are never folded.
//
// Start reading at Rows, then Fit. Known limits: blocks of more than 40 lines and repetition inside
// a line are not detected.
package fold

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Row is a line, or a note that replaces several lines.
type Row struct {
	Text  string // without its line end
	Lines int64  // lines of the original text
	Bytes int64  // bytes of the original text, with line ends
	Note  bool   // Text is a note about lines

	gap bool // the lines are not available
}

// Gap returns a Row for unavailable lines.
func Gap(lines, bytes int64) Row { return Row{Lines: lines, Bytes: bytes, gap: true} }

// Bounds for folding.
const (
	leastSaved = 600 // bytes; smaller savings are not worth the confusion
	leastRun   = 4   // lines
	mostPeriod = 40  // lines in a block
	lineShown  = 2000
	lineStart  = 1400
	lineEnd    = 400
)

// Rows returns the lines of a text, folded.
func Rows(text string) []Row {
	lines := splitLines(text)
	var rows []Row
	f := folder{lines: lines}
	for i := 0; i < len(lines); {
		run := f.at(i)
		if run.lines == 0 {
			rows = append(rows, Row{Text: strings.TrimSuffix(lines[i], "\n"), Lines: 1, Bytes: int64(len(lines[i]))})
			i++
			continue
		}
		for n := range run.first {
			line := lines[i+n]
			rows = append(rows, Row{Text: strings.TrimSuffix(line, "\n"), Lines: 1, Bytes: int64(len(line))})
		}
		end := i + run.lines
		rows = append(rows, Row{Text: run.note, Lines: int64(run.lines - run.first - run.last), Bytes: size(lines[i+run.first : end-run.last]), Note: true})
		for _, line := range lines[end-run.last : end] {
			rows = append(rows, Row{Text: strings.TrimSuffix(line, "\n"), Lines: 1, Bytes: int64(len(line))})
		}
		i = end
	}
	return rows
}

func splitLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines
}

func size(lines []string) (n int64) {
	for _, line := range lines {
		n += int64(len(line))
	}
	return n
}

// run is a range to fold: its first and last few lines are shown with a note between them.
type run struct {
	lines, first, last int
	note               string
}

// folder looks for repetition. looked holds, for each method, the line up to which it found
// nothing, so that a long text is not scanned repeatedly.
type folder struct {
	lines  []string
	failed [ways]int

	steps  int        // lines compared as progress in vain
	newest stepResult // the last of them; lines count from one
}

const ways = 5

// at returns the lines to fold from i on; zero lines means none.
func (f *folder) at(i int) run {
	for way, look := range [ways]func(int) run{f.equal, f.timed, f.progress, f.counted, f.links} {
		if i < f.failed[way] {
			continue
		}
		r := look(i)
		if r.lines < leastRun || size(f.lines[i+r.first:i+r.lines-r.last]) < leastSaved {
			f.failed[way] = i + max(1, r.lines-1)
			continue
		}
		return r
	}
	return f.block(i)
}

func (f *folder) equal(i int) run {
	end := i + 1
	for end < len(f.lines) && sameLine(f.lines[end], f.lines[i]) {
		end++
	}
	return run{end - i, 1, 0, fmt.Sprintf("(… the line above %s)", times(end-i-1))}
}

// sameLine compares two lines; the last may have no line end.
func sameLine(a, b string) bool {
	return a == b || strings.TrimSuffix(a, "\n") == strings.TrimSuffix(b, "\n")
}

// block finds a repeated group of lines.
func (f *folder) block(i int) run {
	for period := 2; period <= mostPeriod && i+2*period <= len(f.lines); period++ {
		if !sameLine(f.lines[i], f.lines[i+period]) {
			continue
		}
		end := i + period
		for end < len(f.lines) && sameLine(f.lines[end], f.lines[end-period]) {
			end++
		}
		repeats := (end - i) / period
		end = i + repeats*period
		if repeats >= 3 && size(f.lines[i+period:end]) >= leastSaved {
			return run{end - i, period, 0, fmt.Sprintf("(… the %d lines above %s)", period, times(repeats-1))}
		}
	}
	return run{}
}

func times(n int) string {
	if n == 1 {
		return "once more"
	}
	return Count(int64(n)) + " more times"
}

// Count formats a number with commas.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Limits bounds the rows shown, in bytes and lines at the start and end.
type Limits struct{ Head, Tail, HeadLines, TailLines int }

// Excerpt is the part of a text that fits.
type Excerpt struct {
	Head, Tail                 string // Tail is empty if nothing is omitted
	OmittedLines, OmittedBytes int64
	Folded                     bool // some rows are notes or were cut
}

// Fit keeps the rows at the start and end that have room. If not everything fits, it cuts lines
// longer than some thousand characters, with a mark.
func Fit(rows []Row, room Limits) Excerpt {
	var s Excerpt
	total, gap := 0, false
	for _, r := range rows {
		total += len(r.Text) + 1
		s.Folded = s.Folded || r.Note
		gap = gap || r.gap
	}
	if !gap && total <= room.Head+room.Tail && len(rows) <= room.HeadLines+room.TailLines {
		s.Head = join(rows)
		return s
	}
	width := min(lineShown, max(200, room.Head*2/3))
	cut := make([]string, len(rows))
	for i, r := range rows {
		cut[i] = Line(r.Text, width)
		s.Folded = s.Folded || len(cut[i]) != len(r.Text)
	}
	head, used := 0, 0
	for head < len(rows) && !rows[head].gap && head < room.HeadLines && used+len(cut[head])+1 <= room.Head {
		used += len(cut[head]) + 1
		head++
	}
	tail := len(rows)
	for used = 0; tail > head && !rows[tail-1].gap && len(rows)-tail < room.TailLines && used+len(cut[tail-1])+1 <= room.Tail; {
		tail--
		used += len(cut[tail]) + 1
	}
	for tail < len(rows) && rows[tail].Note {
		tail++ // a note describes the line before it
	}
	for _, r := range rows[head:tail] {
		s.OmittedLines += r.Lines
		s.OmittedBytes += r.Bytes
	}
	s.Head, s.Tail = joinLines(cut[:head]), joinLines(cut[tail:])
	return s
}

func join(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// Text folds repetition in s and cuts lines longer than width; it returns false if nothing changed.
func Text(s string, width int) (string, bool) {
	var b strings.Builder
	shorter := false
	for _, r := range Rows(s) {
		line := r.Text
		if len(line) > width {
			line, shorter = Line(line, lineShown), true
		}
		shorter = shorter || r.Note
		b.WriteString(line)
		b.WriteByte('\n')
	}
	if !shorter {
		return s, false
	}
	return b.String(), true
}

// Line cuts a line to about width bytes: its start and end, with a mark between them that counts
// the rest.
func Line(line string, width int) string {
	if len(line) <= width {
		return line
	}
	start, end := width*lineStart/lineShown, width*lineEnd/lineShown
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	from := len(line) - end
	for from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	return line[:start] + fmt.Sprintf(" …(%s bytes of this line left out)… ", Count(int64(from-start))) + line[from:]
}
