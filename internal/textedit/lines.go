package textedit

import (
	"strings"

	"adze/internal/diff"
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

// indented compares whole lines without the white space at their ends, and gives the replacement the indentation of the
// place.
func indented(d *doc, e Edit) (found []Span) {
	b := blockOf(e.Old)
	rows := d.lines()
	if b.blank() || len(b.lines) > len(rows) {
		return nil
	}
	want := make([]string, len(b.lines))
	for i, line := range b.lines {
		want[i] = strings.TrimSpace(line)
	}
	for at := 0; at+len(want) <= len(rows); at++ {
		if d.sameTrimmed(at, want) {
			found = append(found, d.blockSpan(at, b, e))
		}
	}
	return found
}

func (d *doc) sameTrimmed(at int, want []string) bool {
	for i, w := range want {
		r := d.rows[at+i]
		if strings.TrimSpace(d.Text[r.start:r.end]) != w {
			return false
		}
	}
	return true
}

// blockSpan replaces the lines from at on that stand for b.
func (d *doc) blockSpan(at int, b block, e Edit) Span {
	last := d.rows[at+len(b.lines)-1]
	s := Span{Start: d.rows[at].start, End: last.end}
	lines := make([]string, len(b.lines))
	for i := range lines {
		r := d.rows[at+i]
		lines[i] = d.Text[r.start:r.end]
	}
	next := blockOf(e.New)
	s.New = strings.Join(reindent(next.lines, b.lines, lines), "\n")
	switch {
	case b.ended && last.next > last.end:
		s.End = last.next
		if next.ended || e.New == "" {
			s.New += "\n"
		}
		if e.New == "" {
			s.New = ""
		}
	case next.ended && !b.ended:
		s.New += "\n"
	}
	s.New = text.WithNewlines(s.New, d.newlineNear(s.Start, s.End))
	return s
}

// reindent writes the new lines as they would stand in the file. A line that the model did not mean to change keeps the
// file's spelling; any other gets the indentation that stands for its own, learnt from the nearest line.
func reindent(next, old, file []string) []string {
	out := make([]string, len(next))
	at := 0 // in old
	same := 0
	for _, c := range append(diff.Compare(trimmed(old), trimmed(next)), diff.Change{Old0: len(old), Old1: len(old), New0: len(next), New1: len(next)}) {
		for ; same < c.New0; same, at = same+1, at+1 {
			out[same] = respell(next[same], old[at], file[at])
		}
		for i := c.New0; i < c.New1; i++ {
			like := c.Old0 + i - c.New0
			if like >= c.Old1 { // a line more than before stands as the one above it
				like = c.Old1 - 1
			}
			out[i] = indentLike(next[i], nearest(old, file, like))
		}
		at, same = c.Old1, c.New1
	}
	return out
}

// respell keeps the file's line when the model's two copies agree on it; when only their indentation differs, the line
// was meant to move.
func respell(next, old, file string) string {
	if indentOf(next) == indentOf(old) {
		return file
	}
	moved := indentLike(next, []pair{{indentOf(old), indentOf(file)}})
	return indentOf(moved) + strings.TrimLeft(file, " \t")
}

func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimSpace(line)
	}
	return out
}

// pair says that the model wrote one indentation where the file has another.
type pair struct{ model, file string }

// nearest lists what is known about indentation, from the line at outwards, lines before it first.
func nearest(old, file []string, at int) (pairs []pair) {
	const enough = 32 // the nearest lines decide; a long block must not cost its square
	for far := 0; far <= len(old) && len(pairs) < enough; far++ {
		for _, i := range []int{at - far, at + far} {
			if i >= 0 && i < len(old) && strings.TrimSpace(old[i]) != "" {
				pairs = append(pairs, pair{indentOf(old[i]), indentOf(file[i])})
			}
		}
	}
	return pairs
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

func indentLike(line string, pairs []pair) string {
	body := strings.TrimLeft(line, " \t")
	if strings.TrimSpace(body) == "" || len(pairs) == 0 {
		return body
	}
	indent := indentOf(line)
	for _, p := range pairs {
		if p.model == indent {
			return p.file + body
		}
	}
	best, found := pairs[0], false
	for _, p := range pairs {
		if strings.HasPrefix(indent, p.model) && (!found || len(p.model) > len(best.model)) {
			best, found = p, true
		}
	}
	if found { // deeper: an equal one was answered above
		return best.file + convert(indent[len(best.model):], pairs) + body
	}
	return shallower(indent, best) + body
}

// convert writes additional indentation with the file's characters: as much deeper as one line of the file is than
// another where the model's copy is by that much.
func convert(extra string, pairs []pair) string {
	char := extra[:1]
	for _, p := range pairs {
		if p.file != "" {
			char = p.file[:1]
			break
		}
	}
	file, model, known := scale(pairs)
	switch {
	case known:
	case char == extra[:1]:
		return extra
	case char == "\t":
		file, model = 1, usual(pairs, func(p pair) (int, int) { return len(p.model), len(p.file) })
	default:
		file, model = usual(pairs, func(p pair) (int, int) { return len(p.file), len(p.model) }), 1
	}
	return strings.Repeat(char, (len(extra)*file+model-1)/model)
}

// scale compares two lines of different depth.
func scale(pairs []pair) (file, model int, known bool) {
	for _, p := range pairs {
		for _, q := range pairs {
			if len(p.file) > len(q.file) && len(p.model) > len(q.model) {
				return len(p.file) - len(q.file), len(p.model) - len(q.model), true
			}
		}
	}
	return 0, 0, false
}

// usual is how many spaces stand for one tab, judged by one line if that gives a usual width, else 4.
func usual(pairs []pair, count func(pair) (spaces, tabs int)) int {
	for _, p := range pairs {
		if spaces, tabs := count(p); tabs > 0 && spaces/tabs >= 2 && spaces/tabs <= 4 {
			return spaces / tabs
		}
	}
	return 4
}

// shallower scales an indentation that is less than any the model wrote before.
func shallower(indent string, p pair) string {
	if len(p.model) == 0 {
		return indent
	}
	return p.file[:min(len(p.file), len(p.file)*len(indent)/len(p.model))]
}
