package textedit

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"adze/internal/text"
)

// literal looks at a place that was found literally, for what no model means: lines that would be
// there twice, or joined.
func (d *doc) literal(s Span, e Edit) ([]Span, error) {
	if len(d.Text) > LenientLimit {
		return []Span{s}, nil
	}
	if line, ok := d.doubled(s, Edit{Old: text.WithNewlines(e.Old, "\n"), New: text.WithNewlines(e.New, "\n")}); ok && !e.All {
		return nil, refuse(NoMatch, "line %d of %s, just beside old_string, is in new_string but not in old_string, so it would be there twice; copy it into old_string as well:\n%s",
			line+1, d.Name, Number(line+1, 1, visible(d.row(line))))
	}
	e.Old, e.New = text.WithNewlines(e.Old, "\n"), text.WithNewlines(e.New, "\n")
	joins := s.Start > 0 && d.Text[s.Start-1] != '\n' && strings.HasPrefix(e.Old, "\n")
	if joins && strings.TrimLeft(e.New, " \t") != e.New && strings.TrimSpace(e.New) != "" {
		return nil, nil // a line, indented, at the end of another: the copy begins with an empty line that is not there
	}
	if d.cutsWord(s, e) {
		if lost := d.Text[d.rows[d.lineAt(s.Start)].start:s.Start]; utf8.RuneCountInString(strings.TrimSpace(lost)) == 1 {
			return nil, nil // the copy lacks the first letter of its first line
		}
		if to, ok := d.wholeLines(s, e); ok {
			if lined, doubt := d.merged(blockOf(e.Old), e, to); doubt != nil || Apply(d.Text, []Span{lined}) != Apply(d.Text, []Span{s}) {
				return nil, nil
			}
		}
	}
	if d.cutsLetters(s, e) {
		return nil, nil
	}
	return d.deep(s, e)
}

// cutsLetters reports whether a copy of several words to the end of a line, or from its beginning,
// lacks a few letters of the word there.
func (d *doc) cutsLetters(s Span, e Edit) bool {
	const few = 3
	if !strings.ContainsAny(strings.TrimSpace(e.Old), " \t") || strings.Contains(strings.TrimSuffix(e.Old, "\n"), "\n") {
		return false
	}
	row := d.row(d.lineAt(s.Start))
	start := s.Start - d.rows[d.lineAt(s.Start)].start
	end := min(len(row), start+len(strings.TrimRight(e.Old, "\r\n")))
	before, after := strings.TrimLeft(row[:start], " \t"), strings.TrimRight(row[end:], " \t")
	first, _ := utf8.DecodeRuneInString(e.Old)
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(e.Old, "\r\n"))
	letters := func(part string, beside rune) bool {
		return part != "" && utf8.RuneCountInString(part) <= few && unicode.IsLetter(beside) && !strings.ContainsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) })
	}
	return after == "" && letters(before, first) || before == "" && letters(after, last)
}

// cutsWord reports whether a copy of several lines begins or ends in the middle of a word: it lacks
// a letter there.
func (d *doc) cutsWord(s Span, e Edit) bool {
	inWord := func(a, b rune) bool { return unicode.IsLetter(a) && unicode.IsLetter(b) }
	before, _ := utf8.DecodeLastRuneInString(d.Text[:s.Start])
	first, _ := utf8.DecodeRuneInString(e.Old)
	last, _ := utf8.DecodeLastRuneInString(e.Old)
	after, _ := utf8.DecodeRuneInString(d.Text[s.End:])
	return strings.Contains(strings.TrimSpace(e.Old), "\n") && (inWord(before, first) || inWord(last, after))
}

// wholeLines pairs the lines of a literal copy with their rows, where the copy has nearly all of
// the first and the last.
func (d *doc) wholeLines(s Span, e Edit) ([]int, bool) {
	b := blockOf(e.Old)
	first := d.lineAt(s.Start)
	to := make([]int, len(b.lines))
	for i := range to {
		if to[i] = first + i; to[i] >= len(d.rows) || likeness(keyOf(b.lines[i]), keyOf(d.row(to[i])), alikeLine) == 0 {
			return nil, false
		}
	}
	return to, true
}

// doubled is a line above or below the place that the new text begins or ends with but the old one
// does not.
func (d *doc) doubled(s Span, e Edit) (int, bool) {
	rows := d.lines()
	first, last := d.lineAt(s.Start), d.lineAt(max(s.Start, s.End-1))
	old, next := blockOf(strings.TrimPrefix(e.Old, "\n")), blockOf(strings.TrimPrefix(e.New, "\n"))
	if strings.HasPrefix(e.Old, "\n") {
		first++
	}
	if old.blank() || next.blank() || first >= len(rows) || strings.TrimSpace(d.row(first)) != strings.TrimSpace(old.lines[0]) ||
		strings.TrimSpace(d.row(last)) != strings.TrimSpace(old.lines[len(old.lines)-1]) {
		return 0, false // not whole lines
	}
	const long = 8 // bytes of a line without indentation that is not there twice by chance
	says := func(s string) bool {
		return strings.TrimSpace(s) != "" && (indentOf(s) != "" || lineOf(s).tells() && len(s) >= long)
	}
	if at, ok := d.above(first, old.lines, next.lines); ok {
		return at, true
	}
	if top := first - 1; top >= 0 && next.lines[0] != old.lines[0] && next.lines[0] == d.row(top) && says(d.row(top)) && len(next.lines) > 1 {
		return top, true
	}
	n, o := next.lines[len(next.lines)-1], old.lines[len(old.lines)-1]
	if below := last + 1; below < len(rows) && n != o && n == d.row(below) && says(n) && (len(next.lines) > 1 || len(old.lines) > 2 && lineOf(n).tells()) {
		return below, true
	}
	return 0, false
}

// above finds a row just above the place that is among the new lines before the first one of the
// copy: the copy lacks it.
func (d *doc) above(first int, old, next []string) (int, bool) {
	had := map[string]bool{}
	for _, s := range old {
		had[s] = true
	}
	for _, s := range next {
		if had[s] && strings.TrimSpace(s) != "" {
			return 0, false
		}
		for row := max(0, first-3); row < first && lineOf(s).tells() && len(next) > 1; row++ {
			if s == d.row(row) && len(s) >= 8 && d.count(keyOf(s)) == 1 {
				return row, true
			}
		}
	}
	return 0, false
}

// deep looks at a literal place that begins inside the indentation of its line, for a copy of one
// line that lost its indentation or some of it. New lines below the first could then stand at the
// margin of the file or at that of the copy, which are different programs where indentation has
// meaning.
func (d *doc) deep(s Span, e Edit) ([]Span, error) {
	literal := []Span{s}
	row := d.lineAt(s.Start)
	before := d.Text[d.rows[row].start:s.Start]
	b, next := blockOf(e.Old), blockOf(e.New)
	if before == "" || strings.Trim(before, " \t") != "" || b.blank() || strings.TrimSpace(e.New) == "" {
		return literal, nil
	}
	if len(next.lines) < 2 && indentOf(b.lines[0]) == indentOf(next.lines[0]) {
		return literal, nil
	}
	if len(b.lines) > 1 {
		if indentOf(b.lines[0]) != "" || indentOf(next.lines[0]) != "" { // a part of the indentation: the copy has another
			return nil, nil
		}
		if p, ok := alignWhole(linesOf(b.lines), linesOf(next.lines)); ok && p.to[0] != 0 && slices.ContainsFunc(p.to, func(k int) bool { return k >= 0 }) {
			return nil, nil // it begins with another line, and how deep that is to stand is told by the others
		} else if ok {
			for i, k := range p.to {
				if i > 0 && k > 0 && !lineOf(b.lines[i]).blank() && indentOf(b.lines[i]) != indentOf(next.lines[k]) && p.to[0] == 0 {
					return nil, refuse(NoMatch, "line %d of %s is indented by %s, old_string is not, and new_string moves lines, so whether it moves the first is not certain; write both texts with the indentation of the file",
						row+1, d.Name, visible(before))
				}
			}
		}
		if row > 0 && d.row(row-1) == b.lines[0] { // the line above is the copy's first: it lacks the one below that
			return nil, nil
		}
		return literal, nil
	}
	if strings.TrimSpace(d.row(row)) != strings.TrimSpace(b.lines[0]) {
		return literal, nil // a part of the line
	}
	shifted, doubt := d.merged(b, e, []int{row})
	if doubt == nil && Apply(d.Text, []Span{shifted}) == Apply(d.Text, literal) {
		return literal, nil
	}
	if indentOf(b.lines[0]) != "" || indentOf(next.lines[0]) != "" {
		return nil, nil // a copy with other indentation, which the next steps handle
	}
	if d.literally(before, next.lines) {
		return literal, nil
	}
	return nil, refuse(NoMatch, "line %d of %s is indented by %s, old_string is not, and the new lines below the first could be meant either way; write both texts with the indentation of the file",
		row+1, d.Name, visible(before))
}

// literally reports whether the new lines below the first have the indentation of the file: none is
// less deep than the place, but for what closes a block from outside, and what follows a line that
// opens one is deeper.
func (d *doc) literally(before string, next []string) bool {
	depth := 0
	opens := false
	for i, s := range next {
		text := strings.TrimSpace(s)
		if text == "" {
			continue
		}
		indent := indentOf(s)
		if i > 0 {
			closes := strings.ContainsAny(text[:1], "})]")
			if closes && depth <= 0 {
				return true // it closes what is open around the place
			}
			if len(indent) < len(before) || opens && !closes && len(indent) <= len(before) {
				return false
			}
			if i == 1 && len(indent) == len(before) && opensUnseen(d.Name) {
				return false
			}
		}
		depth += strings.Count(text, "{") + strings.Count(text, "(") + strings.Count(text, "[")
		depth -= strings.Count(text, "}") + strings.Count(text, ")") + strings.Count(text, "]")
		opens = i == 0 && strings.ContainsAny(text[len(text)-1:], ":{([=>")
	}
	return true
}

// opensUnseen reports whether in files of this kind a line opens a block just by what is deeper
// below it.
func opensUnseen(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".pug", ".jade", ".haml", ".slim", ".sass", ".styl", ".coffee", ".hs", ".lhs", ".fs", ".fsx", ".nim", ".elm", ".purs", ".idr", ".agda", ".md", ".rst", ".org":
		return true
	}
	return false
}
