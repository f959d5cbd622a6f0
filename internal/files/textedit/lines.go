package textedit

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"adze/internal/text"
)

// doc is a source and its lines.
type doc struct {
	Source
	rows []row
	text []int       // rows that are not empty
	keys [2][]string // comparison keys: trimmed, and trimmed in ASCII
}

func key(s string) string      { return strings.TrimSpace(s) }
func plainKey(s string) string { return strings.TrimSpace(plainer(s)) }

// row holds a line's start, the start of its line end, and the next line's start.
type row struct{ start, end, next int }

// rowsOf splits at \n and \r\n, like the read tool, and at \r only if there is no \n.
func rowsOf(s string) (rows []row) {
	end := byte('\n')
	if !strings.Contains(s, "\n") {
		end = '\r'
	}
	for at := 0; at < len(s); {
		r := row{start: at, end: len(s), next: len(s)}
		if i := strings.IndexByte(s[at:], end); i >= 0 {
			r.end, r.next = at+i, at+i+1
			if i > 0 && end == '\n' && s[r.end-1] == '\r' {
				r.end--
			}
		}
		rows = append(rows, r)
		at = r.next
	}
	return rows
}

// row returns a line without its end.
func (d *doc) row(i int) string { return d.Text[d.rows[i].start:d.rows[i].end] }

// lineAt returns the line, from 0, that contains an offset.
func (d *doc) lineAt(off int) int {
	return max(0, sort.Search(len(d.rows), func(i int) bool { return d.rows[i].start > off })-1)
}

// inMargin reports whether an offset follows only white space on its line.
func (d *doc) inMargin(at int) bool {
	start := d.rows[d.lineAt(at)].start
	return at > start && blank(d.Text[start:at])
}

// linesOf splits a text into lines; ended reports whether the last one has its end.
func linesOf(s string) (lines []string, ended bool) {
	body, ended := strings.CutSuffix(text.WithNewlines(s, "\n"), "\n")
	return strings.Split(body, "\n"), ended
}

const (
	beside      = 3 // lines checked around a place
	tellingLine = 8 // bytes in a line unlikely to occur twice by chance
)

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// wholeLines finds the only place with the copy's lines, ignoring white space at their ends, empty
// lines, and look-alike characters.
func (d *doc) wholeLines(e Edit) (*Span, error) {
	if d.text == nil {
		for i := range d.rows {
			if s := d.row(i); !blank(s) {
				d.text, d.keys[0], d.keys[1] = append(d.text, i), append(d.keys[0], key(s)), append(d.keys[1], plainKey(s))
			}
		}
	}
	old, _ := linesOf(e.Old)
	for i, key := range []func(string) string{key, plainKey} {
		var want []string
		for _, s := range old {
			if !blank(s) {
				want = append(want, key(s))
			}
		}
		found := d.runs(want, d.keys[i])
		if len(want) == 0 || len(found) == 0 {
			continue
		}
		if len(found) > 1 { // twins may differ only in white space
			same := slices.DeleteFunc(slices.Clone(found), func(rows []int) bool { return !d.asDeep(old, rows) })
			if len(same) != 1 {
				return nil, d.manyLines(found, e)
			}
			found = same
		}
		if !d.Read {
			return nil, refuse(NotRead, "old_string is not in %s as written (it fits line %d only roughly), and the file was not read in this session; read it first", d.Name, found[0][0]+1)
		}
		return d.replaced(e, found[0], []Step{Spaced, Normalised}[i])
	}
	return nil, nil
}

// runs lists the places where the lines with text match want, by their rows.
func (d *doc) runs(want, keys []string) (found [][]int) {
	for at := 0; at+len(want) <= len(keys); at++ {
		if slices.Equal(keys[at:at+len(want)], want) {
			found = append(found, d.text[at:at+len(want)])
		}
	}
	return found
}

// asDeep reports whether the lines with text are as deep as their rows.
func (d *doc) asDeep(old []string, rows []int) bool {
	i := 0
	for _, s := range old {
		if blank(s) {
			continue
		}
		if indentOf(s) != indentOf(d.row(rows[i])) {
			return false
		}
		i++
	}
	return true
}

// paired returns each copy line's row, or -1 for an empty line missing in the text. text holds the
// non-empty lines' rows.
func (d *doc) paired(old []string, text []int) []int {
	to := make([]int, len(old))
	k, first := 0, -1
	for i, s := range old {
		if to[i] = -1; !blank(s) {
			if to[i] = text[k]; first < 0 {
				first = i
			}
			k++
		} else if i > 0 && to[i-1] >= 0 && to[i-1]+1 < len(d.rows) && blank(d.row(to[i-1]+1)) {
			to[i] = to[i-1] + 1
		}
	}
	for i := first - 1; i >= 0 && to[i+1] > 0 && blank(d.row(to[i+1]-1)); i-- {
		to[i] = to[i+1] - 1
	}
	return to
}

// replaced puts the new lines in place of rows: kept lines stay as in the file, and others get its
// indentation.
func (d *doc) replaced(e Edit, rows []int, step Step) (*Span, error) {
	old, ended := linesOf(e.Old)
	next, _ := linesOf(e.New)
	if e.New == "" {
		next = nil
	}
	m := merge{doc: d, old: old, next: next, rowOf: d.paired(old, rows)}
	m.pair()
	from, end := rows[0], rows[len(rows)-1]+1
	for _, row := range m.rowOf {
		if row >= 0 {
			from, end = min(from, row), max(end, row+1)
		}
	}
	if step == Spaced && !d.asDeep(old, rows) {
		step = Indented
	}
	s := Span{Start: d.rows[from].start, End: d.rows[end-1].end, Step: step}
	lines, why := m.lines(from, end)
	if why != "" {
		return nil, d.doubtful(s, e, why)
	}
	s.New = strings.Join(lines, "\n")
	if last := d.rows[end-1]; len(lines) == 0 {
		s.End = last.next
	} else if ended && last.next > last.end {
		s.End, s.New = last.next, s.New+"\n"
	}
	s.New = d.withEnds(s.Start, s.End, s.New)
	return &s, nil
}

// merge applies the change from old to new lines to the rows that match the old ones.
type merge struct {
	*doc
	old, next []string
	rowOf     []int // each old line's row, or -1
	equalOld  []int // for each new line, the equal old one, perhaps with other indentation, or -1
	near      []int // for each new line, the equal or replaced old one, or -1
}

// lines returns the new lines for the rows from..end. why is the reason for a doubt.
func (m merge) lines(from, end int) (out []string, why string) {
	margin, why := m.indents()
	if why != "" {
		return nil, why
	}
	trailing := m.trailing()
	var added []string
	row, done := from, 0
	copied := func(until int) { // rows missing in the copy are empty lines, and stay
		for ; row < until; row++ {
			out = append(out, m.row(row))
		}
	}
	removed := func(until int) {
		for ; done < until; done++ {
			row = max(row, m.rowOf[done]+1)
		}
	}
	for k, s := range m.next {
		i := m.near[k]
		if i >= 0 {
			removed(i)
		}
		switch {
		case i >= 0 && m.equalOld[k] == i && m.rowOf[i] < 0, m.equalOld[k] < 0 && blank(s) && row < end && blank(m.row(row)):
			continue // an empty line missing in the text, or present here anyway
		case m.equalOld[k] >= 0 && strings.TrimRight(s, " \t") == strings.TrimRight(m.old[i], " \t") && !(margin.matchesFile && indentOf(s) != indentOf(m.row(m.rowOf[i]))):
			copied(m.rowOf[i] + 1)
			done = i + 1
			continue
		}
		if trailing {
			s = strings.TrimRight(s, " \t")
		}
		if blank(s) {
			out = append(out, s)
			continue
		}
		indent, ok := margin.of(indentOf(s))
		if !ok {
			return nil, "old_string is not indented as the file is, and how deep new_string is meant to stand is not certain"
		}
		body := s[len(indentOf(s)):]
		if i >= 0 && m.rowOf[i] >= 0 {
			body = spliced(m.old[i], m.row(m.rowOf[i]), s)
			copied(m.rowOf[i])
			row, done = max(row, m.rowOf[i]+1), max(done, i+1)
		}
		out = append(out, indent+body)
		if m.equalOld[k] < 0 {
			added = append(added, indent+body)
		}
	}
	if line := m.twice(from, end, out, added); line != "" {
		return nil, fmt.Sprintf("new_string adds %q, which stands just beside", line)
	}
	removed(len(m.old))
	if len(m.next) > 0 {
		copied(end)
	}
	return out, ""
}

// twice returns an added line that also stands just above or below the place, so that the copy
// lacks it. A short line counts only where the two would meet.
func (d *doc) twice(from, end int, out, added []string) string {
	if len(out) == 0 {
		return ""
	}
	for row, step := from-1, -1; step < 2; row, step = end, step+2 {
		meets := out[0]
		if step > 0 {
			meets = out[len(out)-1]
		}
		for seen := 0; seen < beside && row >= 0 && row < len(d.rows); row += step {
			s := d.row(row)
			if blank(s) {
				continue
			}
			if slices.Contains(added, s) && (seen == 0 && s == meets || len(strings.TrimSpace(s)) >= tellingLine) {
				return s
			}
			seen++
		}
	}
	return ""
}

// trailing reports whether the copy has trailing blanks that the file lacks.
func (m merge) trailing() bool {
	has := func(s string) bool { return strings.TrimRight(s, " \t") != s }
	any := false
	for i, s := range m.old {
		if m.rowOf[i] < 0 || blank(s) {
			continue
		}
		if has(m.row(m.rowOf[i])) {
			return false
		}
		any = any || has(s)
	}
	return any
}

// pair finds the old line that each new one equals or replaces.
func (m *merge) pair() {
	var a, b []string
	for _, s := range m.old {
		a = append(a, strings.TrimRight(s, " \t"))
	}
	for _, s := range m.next {
		b = append(b, strings.TrimRight(s, " \t"))
	}
	m.equalOld = matched(a, b)
	old, next := trimmedAll(m.old), trimmedAll(m.next)
	m.gaps(func(o, o1, k, k1 int) { // moved lines, between the equal ones
		for x, i := range matched(old[o:o1], next[k:k1]) {
			if i >= 0 && next[k+x] != "" {
				m.equalOld[k+x] = o + i
			}
		}
	})
	m.near = slices.Clone(m.equalOld)
	m.gaps(func(o, o1, k, k1 int) {
		for o < o1 && k < k1 {
			switch {
			case old[o] == "":
				o++
				continue
			case next[k] != "":
				m.near[k] = o
				o++
			}
			k++
		}
	})
}

// gaps visits the stretches of both texts between kept lines.
func (m *merge) gaps(f func(old0, old1, new0, new1 int)) {
	kept := append(slices.Clone(m.equalOld), len(m.old))
	o, k := 0, 0
	for j, i := range kept {
		if i < 0 {
			continue
		}
		if k < j {
			f(o, i, k, j)
		}
		o, k = i+1, j+1
	}
}

func trimmedAll(lines []string) (out []string) {
	for _, s := range lines {
		out = append(out, strings.TrimSpace(s))
	}
	return out
}

// matched returns each new line's equal old line, or -1.
func matched(old, next []string) []int {
	to := aligned(old, next)
	for k, i := range to {
		if i >= 0 && old[i] != next[k] {
			to[k] = -1
		}
	}
	return to
}

// spliced applies a change to a line that the file spells with look-alikes: both unchanged ends
// stay as in the file.
func spliced(old, have, next string) string {
	o, f, n := []rune(strings.TrimSpace(old)), []rune(strings.TrimSpace(have)), []rune(strings.TrimLeft(next, " \t"))
	if len(o) != len(f) || slices.Equal(o, f) {
		return string(n)
	}
	head, tail := 0, 0
	for head < len(o) && head < len(n) && o[head] == n[head] {
		head++
	}
	for tail < len(o)-head && tail < len(n)-head && o[len(o)-1-tail] == n[len(n)-1-tail] {
		tail++
	}
	return string(f[:head]) + string(n[head:len(n)-tail]) + string(f[len(f)-tail:])
}
