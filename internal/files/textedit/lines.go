package textedit

import (
	"strings"

	"adze/internal/text"
)

// block is the model's copy of some whole lines.
type block struct {
	lines []string
	ended bool // the copy goes up to and with the last line's end
}

func blockOf(old string) block {
	body, ended := strings.CutSuffix(text.WithNewlines(old, "\n"), "\n")
	return block{lines: strings.Split(body, "\n"), ended: ended}
}

func (b block) blank() bool { return strings.TrimSpace(strings.Join(b.lines, "")) == "" }

// indented compares whole lines without the white space at their ends, and gives the replacement
// the indentation of the place.
func indented(d *doc, e Edit) ([]Span, error) {
	b := blockOf(e.Old)
	rows := d.lines()
	if b.blank() || len(b.lines) > len(rows) {
		return nil, nil
	}
	want := make([]string, len(b.lines))
	for i, line := range b.lines {
		want[i] = strings.TrimSpace(line)
	}
	var found []Span
	for at := 0; at+len(want) <= len(rows); at++ {
		if d.sameTrimmed(at, want) {
			found = append(found, Span{Start: d.rows[at].start, End: d.rows[at+len(want)-1].end})
		}
	}
	if len(found) != 1 {
		return found, nil
	}
	to := make([]int, len(want))
	at := d.lineAt(found[0].Start)
	for i := range to {
		to[i] = at + i
	}
	if d.tellsLittle(b, at) {
		return nil, d.doubtful(pairing{to: to}, b, &doubt{row: at, why: "the lines stand all over the file, but nowhere as deep as in old_string: others may be meant"})
	}
	s, doubt := d.merged(b, e, to)
	if doubt != nil {
		return nil, d.doubtful(pairing{to: to}, b, doubt)
	}
	return []Span{s}, nil
}

// tellsLittle reports whether the copy has no line that the text has once, and stands elsewhere as
// deep as it is written, or is short.
func (d *doc) tellsLittle(b block, at int) bool {
	chars, literal, elsewhere := 0, true, false
	seen := map[string]bool{}
	for i, s := range b.lines {
		l := lineOf(s)
		if !l.blank() && d.count(l.key) == 1 {
			return false
		}
		if !seen[l.key] {
			seen[l.key] = true
			chars += len(l.key)
		}
		literal = literal && (l.blank() || indentOf(s) == indentOf(d.row(at+i)))
		for j := range d.rows {
			elsewhere = elsewhere || l.tells() && j != at+i && strings.TrimRight(d.row(j), " \t") == l.text
		}
	}
	return !literal && (elsewhere || chars < similarShort)
}

func (d *doc) sameTrimmed(at int, want []string) bool {
	for i, w := range want {
		if strings.TrimSpace(d.row(at+i)) != w {
			return false
		}
	}
	return true
}

// merged replaces the rows that stand for the lines of b.
func (d *doc) merged(b block, e Edit, to []int) (Span, *doubt) {
	plain := text.WithNewlines(e.New, "\n")
	if b.ended {
		plain = strings.TrimSuffix(plain, "\n")
	}
	next := strings.Split(plain, "\n")
	if e.New == "" {
		next = nil
	}
	from, end, _ := pairing{to: to}.bounds()
	switch by := d.writtenAgainst(b, next, to); {
	case by == againstFile && !d.cleaned:
		b = d.asInFile(b, to)
	case by != againstCopy:
		return Span{}, &doubt{row: from, why: "the indentation of old_string is not that of the file, and whether that of new_string goes by the one or the other is not certain"}
	}
	if why := d.flattened(b, next, to); why != nil {
		return Span{}, why
	}
	lines, why := newMerger(d, b, next, to).lines()
	s := Span{Start: d.rows[from].start, End: d.rows[end-1].end}
	s.New = strings.Join(lines, "\n")
	if next == nil && !b.ended && b.lines[0] == "" && to[0] < 0 && from > 0 {
		s.Start = d.rows[from-1].end // the line end that the copy begins with is the one before
	}
	last := d.rows[end-1]
	if b.ended && last.next > last.end {
		s.End = last.next
		if len(lines) > 0 { // also where the model forgot the last line's end: the next line is not to be joined
			s.New += "\n"
		}
	}
	s.New = text.WithNewlines(s.New, d.newlineNear(s.Start, s.End))
	return s, why
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimSpace(line)
	}
	return out
}
