package textedit

import (
	"slices"
	"strings"
)

// leftOver reports marks or escapes that would be written because what was taken off the call was
// taken off in part.
func (d *doc) leftOver(e, plain Edit, steps []Step) error {
	if strings.HasSuffix(plain.Old, "\n") && strings.HasSuffix(plain.New, `\n`) && !strings.Contains(plain.Old, `\n`) {
		return refuse(NoMatch, `new_string ends with \n as two characters, and old_string with a line end; write the line ends of both as such`)
	}
	marks := 0
	for _, s := range steps {
		if s == Unmarked {
			marks++
		}
	}
	if marks > 1 {
		return refuse(NoMatch, "both texts are marked as parts of a diff or a quotation, several times; write both as they are in %s", d.Name)
	}
	if s, is := unplaced(e, plain); marks > 0 && len(steps) == 1 && is {
		return refuse(NoMatch, "the texts are marked as parts of a diff, and the line %s would be left out; write both as they are in %s", visible(s), d.Name)
	}
	for _, n := range linesOf(blockOf(plain.New).lines) {
		if n.blank() || strings.Contains(plain.Old, n.text) || d.count(n.key) > 0 {
			continue
		}
		if mark := n.key[:1]; marks > 0 && strings.Contains("+->", mark) && !d.begins(mark) {
			return refuse(NoMatch, "new_string still has %q before %s; write both texts as they are in %s", mark, visible(n.text), d.Name)
		}
		if slices.Contains(steps, Unescaped) && strings.Contains(n.key, "\t") && !strings.Contains(e.New, "\t") && !innerTab(plain.Old) {
			return refuse(NoMatch, "a \\t inside the line %s may be a tab or a part of its text; write both texts without escapes", visible(n.text))
		}
	}
	return nil
}

// unplaced reports a line with the mark of a diff that is left out of what was taken for the new
// text.
func unplaced(e, plain Edit) (string, bool) {
	for _, s := range blockOf(e.New).lines {
		if rest, ok := strings.CutPrefix(s, "+"); ok && strings.TrimSpace(rest) != "" && !strings.Contains(plain.New, strings.TrimSpace(rest)) {
			return s, true
		}
	}
	return "", false
}

// begins reports whether a line of the file begins with the mark.
func (d *doc) begins(mark string) bool {
	for i := range d.lines() {
		if strings.HasPrefix(strings.TrimLeft(d.row(i), " \t"), mark) {
			return true
		}
	}
	return false
}

func innerTab(s string) bool {
	return slices.ContainsFunc(linesOf(blockOf(s).lines), func(l line) bool { return strings.Contains(l.key, "\t") })
}

// markedNew refuses a new text each line of which has a mark or a number before the indentation
// that old_string has.
func (d *doc) markedNew(at int, e Edit) (Edit, error) {
	old, next := blockOf(e.Old), blockOf(e.New)
	indent := ""
	for _, s := range old.lines {
		if strings.TrimSpace(s) != "" {
			indent = indentOf(s)
			break
		}
	}
	for _, mark := range []string{"+", "-", ">", "|"} {
		each, any := true, false
		for _, s := range next.lines {
			if strings.TrimSpace(s) != "" {
				each, any = each && strings.HasPrefix(s, mark+indent), true
			}
		}
		if each && any && indent != "" && !strings.Contains("\n"+d.Text, "\n"+mark+indent[:1]) {
			return e, refuse(NoMatch, "each line of new_string begins with %q before its indentation, and no line of %s does; write new_string without it", mark, d.Name)
		}
	}
	row := d.lineAt(at) + 1
	for _, st := range numberStyles() {
		first, last, each := 0, -1, len(next.lines) > 1
		if rest, n, ok := st.cut(next.lines[0]); ok && n == row && likeness(strings.TrimSpace(rest), strings.TrimSpace(old.lines[0]), alikeLine) > 0 {
			each = true
		}
		for _, s := range next.lines {
			_, n, ok := st.cut(s)
			if each = each && ok && (last < 0 || n == last+1); !each {
				break
			}
			if last < 0 {
				first = n
			}
			last = n
		}
		if each && (first == row || strings.ContainsAny(st.after, "→│")) && !slices.ContainsFunc(old.lines, func(s string) bool { _, _, ok := st.cut(s); return ok }) {
			return e, refuse(NoMatch, "the lines of new_string begin with line numbers, which %s does not have; write new_string without them", d.Name)
		}
	}
	return e, nil
}

// quotesEscaped refuses a new text that differs from old_string on each line with quotation marks
// by their escapes alone.
func (d *doc) quotesEscaped(_ int, e Edit) (Edit, error) {
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), `\`, "") }
	had, was := map[string]bool{}, map[string]bool{}
	for _, s := range blockOf(e.Old).lines {
		had[strings.TrimSpace(s)], was[plain(s)] = true, true
	}
	escaped := 0
	for _, s := range blockOf(e.New).lines {
		if s = strings.TrimSpace(s); !strings.Contains(s, `"`) {
			continue
		}
		if had[s] || strings.Count(s, `"`) != strings.Count(s, `\"`) {
			return e, nil
		}
		if was[plain(s)] {
			escaped++
		}
	}
	if escaped < 2 {
		return e, nil
	}
	return e, refuse(NoMatch, "each quotation mark of new_string is escaped, and those of old_string are not; write both texts as they are to stand in %s", d.Name)
}

// unindented refuses a copy that begins behind the indentation of its line where new_string has
// more lines without any: they may have lost theirs, too.
func (d *doc) unindented(at int, e Edit) (Edit, error) {
	before := d.lineStart(at)
	if before == "" || strings.Trim(before, " \t") != "" || indentOf(e.Old) != "" {
		return e, nil
	}
	old := linesOf(blockOf(e.Old).lines)
	for _, n := range linesOf(blockOf(e.New).lines)[1:] {
		if !n.blank() && indentOf(n.text) == "" && !has(old, n.key) && len(old) > 1 && !closes(n.key) {
			return e, refuse(NoMatch, "old_string begins behind the indentation of line %d of %s, so that of the new line %s is not certain; write both texts with the indentation of the file",
				d.lineAt(at)+1, d.Name, visible(n.text))
		}
	}
	return e, nil
}

// besideTwice refuses a new text that begins with the line before the place, or ends with the line
// behind it, where old_string has neither.
func (d *doc) besideTwice(at int, e Edit) (Edit, error) {
	old := linesOf(blockOf(e.Old).lines)
	next := slices.DeleteFunc(linesOf(blockOf(e.New).lines), line.blank)
	above := d.lineAt(at) - 1
	if strings.HasPrefix(e.Old, "\n") && d.lineStart(at) != "" {
		above++ // the place begins with the end of the line above
	} else if d.lineStart(at) != "" {
		return e, nil
	}
	if len(next) == 0 {
		return e, nil
	}
	edge := func(by int) line { // the new line that would stand beside
		if by < 0 {
			return next[0]
		}
		return next[len(next)-1]
	}
	twice := func(row, by int, certain func(s string) bool) error {
		for ; row >= 0 && row < len(d.rows) && strings.TrimSpace(d.row(row)) == ""; row += by {
		}
		if row < 0 || row >= len(d.rows) {
			return nil
		}
		n := lineOf(d.row(row))
		if has(old, n.key) || !certain(d.row(row)) && (len(n.key) < 12 || !n.tells() || d.count(n.key) != 1 ||
			edge(by).text != d.row(row)) {
			return nil
		}
		return refuse(NoMatch, "the line %s (line %d of %s) would stand twice: new_string has it and old_string does not; include it in old_string, or leave it out of new_string",
			visible(n.text), row+1, d.Name)
	}
	only := func(s string) bool {
		return len(next) == 1 && next[0].text == s && indentOf(s) != "" && texts(e.Old) > 1
	}
	if err := twice(above, -1, only); err != nil {
		return e, err
	}
	below := d.lineAt(max(at, at+len(e.Old)-1)) + 1
	ends := func(s string) bool { // the last new lines, two or more, are those below
		for n := 2; n <= min(4, len(next), len(d.rows)-below); n++ {
			same, first := true, next[len(next)-n]
			for i, l := range next[len(next)-n:] {
				same = same && d.row(below+i) == l.text
			}
			if same && first.tells() && !has(old, first.key) {
				return true
			}
		}
		return false
	}
	return e, twice(below, 1, ends)
}

// miscopied reports a line that both texts of the call have, and the file nearly so, which would be
// lost or would not move as it does in the call.
func (r result) miscopied(*doc) *doubt {
	for _, n := range r.next {
		i := slices.IndexFunc(r.old, func(o line) bool { return o.key == n.key })
		if n.blank() || i < 0 || has(r.file, n.key) {
			continue
		}
		like := func(f line) bool {
			return !f.blank() && (likeness(f.key, n.key, alikeLine) > 0 || bareOfSigns(f.key) == bareOfSigns(n.key))
		}
		f, o := slices.IndexFunc(r.file, like), slices.IndexFunc(r.out, like)
		switch {
		case f < 0:
		case o < 0:
			return r.doubt("the line " + visible(r.file[f].text) + " would be lost, and both texts have one like it: " + visible(n.text))
		case depthOf(n.text) != depthOf(r.old[i].text) && depthOf(r.out[o].text) == depthOf(r.file[f].text):
			return r.doubt("the line " + visible(n.text) + " moves in new_string, and the one like it in the file would not")
		}
	}
	return nil
}

// shifted reports a line that new_string leaves where it is, by old_string or by the file, and that
// would move.
func (r result) shifted(d *doc) *doubt {
	once := func(list []line, key string) (line, bool) {
		i := slices.IndexFunc(list, func(l line) bool { return l.key == key })
		if i < 0 || count(list, key) != 1 {
			return line{}, false
		}
		return list[i], true
	}
	verbatim := func(list []line, s string) bool {
		return slices.ContainsFunc(list, func(l line) bool { return l.text == s })
	}
	for k, n := range r.next {
		if n.blank() || !has(r.old, n.key) {
			continue
		}
		if o, ok := once(r.old, n.key); ok && k > 0 && depthOf(o.text) == depthOf(n.text) && !has(r.file, r.next[k-1].key) && !has(r.old, r.next[k-1].key) &&
			r.old[0].key == n.key && depthOf(r.next[k-1].text) < depthOf(n.text) && !verbatim(r.file, o.text) {
			return r.doubt("the line " + visible(r.next[k-1].text) + " comes before lines that are no deeper than in old_string, whose indentation is not that of the file")
		}
		if verbatim(r.file, n.text) && !verbatim(r.old, n.text) && !verbatim(r.out, n.text) {
			return r.doubt("new_string has " + visible(n.text) + " as the file does, and old_string does not: its indentation is not certain")
		}
		f, inFile := once(r.file, n.key)
		o, inOld := once(r.old, n.key)
		out, inOut := once(r.out, n.key)
		if inFile && inOld && inOut && count(r.next, n.key) == 1 && depthOf(o.text) == depthOf(n.text) && depthOf(f.text) != depthOf(out.text) {
			return r.doubt("the line " + visible(n.text) + " stands alike in both texts, and would move")
		}
		i := slices.IndexFunc(r.out, func(l line) bool { return l.key == n.key })
		if unit := d.unit().width; unit > 1 && d.unit().char == ' ' && inFile && inOld && depthOf(f.text) != depthOf(o.text) && i > 0 && !has(r.file, r.out[i-1].key) &&
			depthOf(r.out[i].text)-depthOf(r.out[i-1].text) > unit {
			return r.doubt("the line " + visible(n.text) + " would stand more than one step deeper than the line above it")
		}
	}
	return nil
}

// begunInside doubts a place that begins inside a line where new_string has that line whole.
func (d *doc) begunInside(s Span, e Edit) *doubt {
	plain := func(s string) string {
		return strings.Join(slices.DeleteFunc(words(s), func(w string) bool { return !isWord(w) }), "")
	}
	before := d.lineStart(s.Start)
	old, next := firstRow(strings.TrimLeft(e.Old, "\n")), firstRow(strings.TrimLeft(e.New, "\n"))
	if strings.TrimSpace(before) == "" || strings.TrimSpace(old) == "" || strings.HasPrefix(e.Old, "\n") {
		return nil
	}
	squeezed := func(s string) string { return strings.Join(strings.Fields(s), "") }
	begun := false
	for _, form := range []func(string) string{plain, squeezed} {
		whole := form(before + old)
		begun = begun || whole != form(old) && strings.HasPrefix(form(next), whole[:min(len(whole), len(form(before))+3)])
	}
	if !begun || !strings.Contains(strings.TrimSpace(e.Old), "\n") {
		return nil
	}
	return &doubt{row: d.lineAt(s.Start), why: "old_string begins inside a line, and new_string has that line whole: its beginning would be there twice"}
}

// behindBlank runs a check of the first lines behind a blank line that both texts begin with.
func behindBlank(at int, e Edit, check func(int, Edit) (Edit, error)) (Edit, error) {
	n := 0
	for n < min(len(e.Old), len(e.New))-1 && e.Old[n] == '\n' && e.New[n] == '\n' {
		n++
	}
	blank := e.Old[:n]
	if at >= 0 {
		at += n
	}
	e, err := check(at, Edit{Old: e.Old[n:], New: e.New[n:], All: e.All})
	return Edit{Old: blank + e.Old, New: blank + e.New, All: e.All}, err
}
