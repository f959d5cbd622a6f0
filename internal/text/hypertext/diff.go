package hypertext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/text/highlight"
)

// Diff is a unified diff: each run of removed lines beside, or above, the lines that came in their
// place. Two columns are made of it by the sheet where there is room.
func (o Options) Diff(path, unified string) string {
	w := &diffWriter{writer: writer{Options: o}, lang: highlight.ForFile(path)}
	w.diff(unified)
	return w.String()
}

// Hunks are the hunks of a unified diff, each with its first line.
func Hunks(unified string) (out []string) {
	for line := range strings.SplitAfterSeq(unified, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			out = append(out, line)
		case len(out) > 0:
			out[len(out)-1] += line
		}
	}
	return out
}

// diffWriter writes a diff line by line.
type diffWriter struct {
	writer
	lang       highlight.Language
	old, new   int // numbers of the next lines
	gone, come []string
	hunks      int
	left       int  // lines that were not written yet
	rows       int  // that were
	folding    bool // the rest is folded
}

// From what number of lines on a diff is folded, and how many stand together.
const (
	diffLines = 80
	diffRun   = 200
)

// fold hides what comes, where that is much.
func (w *diffWriter) fold() {
	if w.Page && !w.folding && w.rows > diffLines && w.left > tailLines {
		w.folding = true
		w.WriteString(`<details class="fold"><summary>` + strconv.Itoa(w.left) + ` more lines of the change</summary>`)
	}
}

func (w *diffWriter) diff(unified string) {
	w.open("div", ` class="diff"`)
	lines := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "@@") }) {
		w.hunks, w.old, w.new = 1, 1, 1 // lines without a place
	}
	for i, line := range lines {
		w.left = len(lines) - i
		w.line(strings.TrimSuffix(line, "\r"))
	}
	w.flush()
	if w.folding {
		w.WriteString("</details>")
	}
	w.WriteString("</div>\n")
}

func (w *diffWriter) line(line string) {
	switch {
	case strings.HasPrefix(line, "@@"):
		w.flush()
		w.old, w.new = hunkStarts(line)
		if w.hunks++; w.hunks > 1 {
			w.WriteString(`<div class="at">`)
			w.plain(line)
			w.WriteString("</div>")
		}
	case w.hunks == 0: // before the first hunk
		if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") && line != "" {
			w.WriteString(`<div class="at">`)
			w.plain(line)
			w.WriteString("</div>")
		}
	case strings.HasPrefix(line, "-"):
		if len(w.come) > 0 || len(w.gone) >= diffRun {
			w.flush()
		}
		w.gone = append(w.gone, line[1:])
	case strings.HasPrefix(line, "+"):
		if len(w.come) >= diffRun {
			w.flush()
		}
		w.come = append(w.come, line[1:])
	case strings.HasPrefix(line, `\`):
		w.flush()
		w.WriteString(`<div class="at">`)
		w.plain(strings.TrimPrefix(line, `\ `))
		w.WriteString("</div>")
	default:
		w.flush()
		text := strings.TrimPrefix(line, " ")
		w.fold()
		w.WriteString(`<div class="pair same">`)
		w.row(`same" aria-hidden="true`, w.old, text, 0, 0) // the left side, where there are two
		w.row("same", w.new, text, 0, 0)
		w.WriteString("</div>")
		w.old, w.new = w.old+1, w.new+1
	}
}

// flush writes the removed lines and those that came in their place.
func (w *diffWriter) flush() {
	if len(w.gone)+len(w.come) == 0 {
		return
	}
	w.fold()
	w.WriteString(`<div class="pair"><div class="side">`)
	for i, text := range w.gone {
		from, to := w.differs(text, w.come, i)
		w.row("del", w.old+i, text, from, to)
	}
	w.WriteString(`</div><div class="side">`)
	for i, text := range w.come {
		from, to := w.differs(text, w.gone, i)
		w.row("add", w.new+i, text, from, to)
	}
	w.WriteString("</div></div>")
	w.old, w.new = w.old+len(w.gone), w.new+len(w.come)
	w.gone, w.come = w.gone[:0], w.come[:0]
}

// differs is the part of a line that differs from the line in its place. It is empty where the two
// have little in common.
func (w *diffWriter) differs(text string, others []string, i int) (from, to int) {
	if len(w.gone) != len(w.come) {
		return 0, 0
	}
	other := others[i]
	for from < len(text) && from < len(other) && text[from] == other[from] {
		from++
	}
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	end, otherEnd := len(text), len(other)
	for end > from && otherEnd > from && text[end-1] == other[otherEnd-1] {
		end, otherEnd = end-1, otherEnd-1
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	if 3*(end-from) > 2*len(text) || from == end {
		return 0, 0
	}
	return from, end
}

// row writes a line with its number, and marks a part of it.
func (w *diffWriter) row(class string, number int, text string, from, to int) {
	w.rows++
	w.WriteString(`<div class="l ` + class + `" data-n="` + strconv.Itoa(number) + `">`)
	at := 0
	for _, t := range w.lang.Tokens(text) {
		for piece := t.Text; piece != ""; {
			end := len(piece)
			for _, border := range []int{from - at, to - at} {
				if border > 0 && border < end {
					end = border
				}
			}
			marked := at >= from && at < to
			if marked {
				w.WriteString("<mark>")
			}
			w.token(t.Kind, piece[:end])
			if marked {
				w.WriteString("</mark>")
			}
			at, piece = at+end, piece[end:]
		}
	}
	w.WriteString("\n</div>")
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
