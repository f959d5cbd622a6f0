package textedit

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/text"
)

// leftAfter refuses a call that still has a part of what was taken off its texts, or had it in one
// text alone, and a result for which two comparisons were lenient at once.
func (d *doc) leftAfter(e, plain Edit, steps []Step, found []Span) error {
	if len(found) != 1 || e.All || len(d.Text) > LenientLimit {
		return nil
	}
	if why := d.numbersLeft(e, plain, steps); why != "" {
		return refuse(NoMatch, "%s; write both texts as they are in %s, without line numbers", why, d.Name)
	}
	if why := d.escapesLeft(plain, steps); why != "" {
		return refuse(NoMatch, "%s; write both texts as they are in %s, without escapes", why, d.Name)
	}
	if mark := d.diffLeft(plain); mark != "" {
		return refuse(NoMatch, "the lines of new_string begin with %q before lines of old_string, as in a diff; write both texts as they are in %s", mark, d.Name)
	}
	s := found[0]
	literal := s.Step == Exact || s.Step == LineEnds
	prefixed := slices.ContainsFunc(steps, func(s Step) bool { return s == Numbered || s == Unmarked })
	switch {
	case slices.Contains(steps, Unmarked) && e.New == plain.New && eachBegins(e.New, e.Old[:1]):
		return refuse(NoMatch, "each line of both texts begins with %q, as in a diff; write both texts as they are in %s", e.Old[:1], d.Name)
	case prefixed && (e.Old == plain.Old) != (e.New == plain.New) && (marginOf(plain.Old) != marginOf(plain.New) && !onlyOldLines(plain) || unevenly(plain)):
		return refuse(NoMatch, "one of the texts has marks or line numbers, and the other is indented otherwise; write both texts as they are in %s", d.Name)
	case !literal && s.Step != Indented && slices.ContainsFunc(steps, func(s Step) bool { return s != Normalised && s != LineEnds && s != Fenced }):
		return refuse(NoMatch, "old_string is not in %s even without what was added to it (%s); write both texts as they are in the file", d.Name, steps[0])
	case !literal || len(steps) > 0:
		if entity := firstEntity(plain.New); entity != "" && !markup(d.Name) && firstEntity(d.Text+plain.Old) == "" {
			return refuse(NoMatch, "new_string has the entity %s, and %s has none; write both texts as they are in the file", entity, d.Name)
		}
		if o := d.besideOmission(plain); o != "" {
			return refuse(NoMatch, "the lines for which %s stands are beside a line that changes; write old_string as it is in %s, without leaving lines out", o, d.Name)
		}
		return d.mixedMargin(plain)
	}
	if err := d.insideIndent(s, e); err != nil {
		return err
	}
	return d.wholeRow(s, e)
}

// besideOmission is a line of old_string that stands for lines left out, beside one that new_string
// has not; "" if there is none.
func (d *doc) besideOmission(e Edit) string {
	old, next := linesOf(blockOf(e.Old).lines), linesOf(blockOf(e.New).lines)
	for i, o := range old {
		if o.blank() || !dots(o.key) && !omits(o.key) || d.count(o.key) > 0 {
			continue
		}
		for _, k := range []int{i - 1, i + 1} {
			if k >= 0 && k < len(old) && !old[k].blank() && !slices.ContainsFunc(next, func(n line) bool { return n.text == old[k].text }) {
				return visible(o.text)
			}
		}
	}
	return ""
}

// firstEntity is the first entity of HTML that stands for a character of programs; "" if there is
// none.
func firstEntity(s string) string {
	for _, entity := range []string{"&#34;", "&#39;", "&quot;", "&lt;", "&gt;", "&amp;"} {
		if strings.Contains(s, entity) {
			return entity
		}
	}
	return ""
}

// insideIndent refuses a copy that begins behind the indentation of its line where new_string
// begins with a later line of old_string that stands at another depth.
func (d *doc) insideIndent(s Span, e Edit) error {
	before := d.lineStart(s.Start)
	old, next := linesOf(blockOf(e.Old).lines), linesOf(blockOf(e.New).lines)
	if before == "" || strings.Trim(before, " \t") != "" || len(old) < 2 || len(next) == 0 || next[0].blank() || next[0].key == old[0].key {
		return nil
	}
	for _, o := range old[1:] {
		if o.key == next[0].key && depthOf(o.text) != len(before) {
			return refuse(NoMatch, "old_string begins behind the indentation of line %d of %s, so that of the first line of new_string is not certain; write both texts with the indentation of the file",
				d.lineAt(s.Start)+1, d.Name)
		}
	}
	return nil
}

// marginOf is the least indentation of the lines with text.
func marginOf(s string) int {
	least := -1
	for _, l := range linesOf(blockOf(s).lines) {
		if depth := depthOf(l.text); !l.blank() && (least < 0 || depth < least) {
			least = depth
		}
	}
	return least
}

// eachBegins reports whether each line with text begins with the mark.
func eachBegins(s, mark string) bool {
	return !slices.ContainsFunc(blockOf(s).lines, func(l string) bool { return strings.TrimSpace(l) != "" && !strings.HasPrefix(l, mark) })
}

// unevenly reports whether the lines that both texts have move by different widths.
func unevenly(e Edit) bool {
	old, next := linesOf(blockOf(e.Old).lines), linesOf(blockOf(e.New).lines)
	by := map[int]bool{}
	for _, o := range old {
		i := slices.IndexFunc(next, func(n line) bool { return n.key == o.key })
		if !o.blank() && i >= 0 && count(old, o.key) == 1 && count(next, o.key) == 1 {
			by[depthOf(next[i].text)-depthOf(o.text)] = true
		}
	}
	return len(by) > 1
}

// onlyOldLines reports whether each line of new_string is one of old_string.
func onlyOldLines(e Edit) bool {
	old := blockOf(e.Old).lines
	return !slices.ContainsFunc(blockOf(e.New).lines, func(s string) bool { return strings.TrimSpace(s) != "" && !slices.Contains(old, s) })
}

var numberArrow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(?:\d+ *[→│\t]|L(?:ine )?\d+:)`) })

// numbersLeft says which line of new_string has a line number before it that the file does not
// have; "" if none has.
func (d *doc) numbersLeft(e, plain Edit, steps []Step) string {
	numbered := slices.Contains(steps, Numbered)
	texts := []string{plain.New}
	if !numbered {
		texts = append(texts, e.New)
	}
	for _, s := range texts {
		for _, l := range blockOf(s).lines {
			if strings.TrimSpace(l) == "" || strings.Contains(d.Text, l) || strings.Contains(plain.Old, l) {
				continue
			}
			if numberArrow().MatchString(l) && !slices.ContainsFunc(d.list(0, len(d.lines())-1), func(r line) bool { return numberArrow().MatchString(r.text) }) {
				return "the line " + visible(l) + " of new_string begins with a line number"
			}
			for _, st := range numberStyles() {
				if rest, _, ok := st.cut(l); numbered && ok && rest == "" && strings.TrimSpace(st.after) != "" {
					return "the line " + visible(l) + " of new_string is a line number alone"
				}
			}
		}
	}
	if numbered {
		return ""
	}
	return d.numberedAlone(e)
}

// diffLeft is the mark of a diff before each line of new_string, two of which old_string has
// without it; "" if there is none.
func (d *doc) diffLeft(e Edit) string {
	plain := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	old := map[string]bool{}
	for _, s := range blockOf(e.Old).lines {
		old[plain(s)] = true
	}
	minus, plus, same := 0, 0, 0
	for _, s := range blockOf(e.New).lines {
		if strings.TrimSpace(s) == "" {
			continue
		}
		if old[plain(s)] || !strings.Contains("+-", s[:1]) {
			return ""
		}
		if markup(d.Name) && strings.HasPrefix(s, "- ") {
			continue
		}
		if s[0] == '-' {
			minus++
		} else {
			plus++
		}
		if old[plain(s[1:])] {
			same++
		}
	}
	switch {
	case same > 0 && minus > 0 && plus > 0:
		return "-"
	case same > 1 && minus > 0:
		return "-"
	case same > 1 && plus > 0:
		return "+"
	}
	return ""
}

// numberedAlone finds numbers before each line of new_string, the blank ones too, or before its one
// line.
func (d *doc) numberedAlone(e Edit) string {
	old, next := blockOf(e.Old), blockOf(e.New)
	var had []string
	for _, s := range old.lines {
		if strings.TrimSpace(s) != "" {
			had = append(had, s)
		}
	}
	if len(had) == 0 {
		return ""
	}
	at := max(0, strings.Index(d.Text, e.Old))
	row := d.lineAt(at+len(e.Old)-len(strings.TrimLeft(e.Old, "\r\n"))) + 1
	for _, st := range numberStyles() {
		if slices.ContainsFunc(had, func(s string) bool { _, _, ok := st.cut(s); return ok }) {
			continue
		}
		first, last, blank, count, each := 0, 0, false, 0, true
		var rest string
		for _, s := range next.lines {
			if strings.TrimSpace(s) == "" {
				continue
			}
			r, n, ok := st.cut(s)
			if each = each && ok && (last == 0 || n == last+1); !each {
				break
			}
			if blank = blank || strings.TrimSpace(r) == ""; count == 0 {
				rest, first = r, n
			}
			last = n
			count++
		}
		if !each || count == 0 {
			continue
		}
		if count > 1 && blank {
			return "each line of new_string begins with a number, also the blank ones"
		}
		list := st.after == " " || markup(d.Name) && slices.Contains([]string{". ", ") ", " - "}, st.after) && st.before == ""
		if !list && (count > 1 || len(had) == 1) && (first == row && strings.TrimSpace(rest) != "" && st.after != "  " || likeness(strings.TrimSpace(rest), strings.TrimSpace(had[0]), 0.4) > 0) {
			return "new_string begins with a line number"
		}
	}
	return ""
}

// escapesLeft says which escape of new_string was not meant as text; "" if there is none.
func (d *doc) escapesLeft(plain Edit, steps []Step) string {
	old := linesOf(blockOf(plain.Old).lines)
	inner := func(s string) bool { return strings.Contains(strings.TrimSpace(s), "\t") }
	for _, s := range blockOf(plain.New).lines {
		begins := strings.TrimLeft(s, " \t")
		for _, sign := range []string{`\t`, `\n`} {
			if strings.HasPrefix(begins, sign) && !strings.Contains(d.Text, begins) && !d.begins(sign) && !strings.HasSuffix(d.Name, ".tex") {
				return "the line " + visible(s) + " of new_string begins with the escape " + sign
			}
		}
		if slices.Contains(steps, Unescaped) && inner(s) && !slices.ContainsFunc(old, func(o line) bool { return inner(o.text) }) {
			return `a \t inside the line ` + visible(s) + " may be a tab or a part of its text"
		}
		parts := strings.Split(s, `\n`)
		if len(parts) < 2 || strings.Contains(plain.Old, `\n`) || !lineEndOutside(s) && !(markup(d.Name) && strings.Contains(s, `\n  `)) {
			continue
		}
		for _, part := range parts {
			part = keyOf(part)
			if len(part) >= 6 && slices.ContainsFunc(old, func(o line) bool { return likeness(part, o.key, 0.5) > 0 }) {
				return "new_string has " + visible(part) + ` beside \n, which looks like a line end written as two characters`
			}
		}
	}
	quotes := strings.Count(plain.New, `"`)
	if quotes > 3 && quotes == strings.Count(plain.New, `\"`) && strings.Contains(plain.New, `\\\"`) && !strings.Contains(plain.Old, `\\\"`) && strings.Contains(strings.ReplaceAll(plain.Old, `\"`, ""), `"`) {
		return "each quotation mark of new_string is escaped, and those of old_string are not"
	}
	return ""
}

// mixedMargin refuses a copy that is not exact where the first line of new_string has lost its
// indentation, or its lines are indented by other characters than those of the file.
func (d *doc) mixedMargin(e Edit) error {
	first := func(s string) (line, bool) {
		list := linesOf(blockOf(s).lines)
		i := slices.IndexFunc(list, func(l line) bool { return !l.blank() })
		if i < 0 {
			return line{}, false
		}
		return list[i], true
	}
	o, hasOld := first(e.Old)
	n, hasNew := first(e.New)
	if !hasOld || !hasNew {
		return nil
	}
	was := depthOf(o.text)
	for _, l := range linesOf(blockOf(e.Old).lines) {
		if l.key == n.key {
			was = depthOf(l.text)
			break
		}
	}
	if depthOf(n.text) == 0 && was > 0 {
		return refuse(NoMatch, "old_string is not in %s as written, and the first line of new_string is not indented as in old_string; write both texts with the indentation of the file", d.Name)
	}
	has := func(list []line, sign string) bool {
		return slices.ContainsFunc(list, func(l line) bool { return !l.blank() && strings.HasPrefix(l.text, sign) })
	}
	file, next := d.list(0, len(d.lines())-1), linesOf(blockOf(e.New).lines)
	if has(next, "\t") && has(next, " ") && has(file, "\t") != has(file, " ") {
		return refuse(NoMatch, "some lines of new_string are indented by tabs and some by spaces, unlike those of %s; write both texts with the indentation of the file", d.Name)
	}
	return nil
}

// wholeRow refuses several lines that begin or end inside a line where new_string has that line
// whole.
func (d *doc) wholeRow(s Span, e Edit) error {
	before := d.lineStart(s.Start)
	if old := firstRow(e.Old); strings.TrimSpace(before) != "" && len(old) >= 3 && !strings.HasPrefix(old, strings.TrimSpace(before)) &&
		strings.HasPrefix(e.New, strings.TrimLeft(before, " \t")+old[:3]) {
		return refuse(NoMatch, "old_string begins inside line %d of %s, and new_string with the beginning of that line, so %q would stand twice; copy the whole line:\n%s",
			d.lineAt(s.Start)+1, d.Name, strings.TrimSpace(before), visible(d.row(d.lineAt(s.Start))))
	}
	if !strings.Contains(strings.TrimSpace(e.Old), "\n") {
		return nil
	}
	if rest := d.Text[s.End:]; !strings.HasSuffix(e.Old, "\n") && strings.TrimSpace(firstRow(rest)) != "" && lastRow(e.New) != lastRow(e.Old) && strings.TrimRight(lastRow(e.New), " \t") == strings.TrimRight(lastRow(e.Old), " \t") {
		return refuse(NoMatch, "old_string ends inside line %d of %s, and new_string only adds blanks there; copy the whole line:\n%s",
			d.lineAt(s.End)+1, d.Name, visible(d.row(d.lineAt(s.End))))
	}
	inside := func(row int, part string) error {
		if strings.TrimSpace(part) == "" {
			return nil
		}
		for _, n := range blockOf(e.New).lines {
			if strings.TrimRight(n, "\r") == d.row(row) {
				return refuse(NoMatch, "old_string begins or ends inside line %d of %s, and new_string has that line whole, so %q would stand twice; copy the whole line:\n%s",
					row+1, d.Name, part, visible(d.row(row)))
			}
		}
		return nil
	}
	if first := d.lineAt(s.Start); !strings.HasPrefix(e.Old, "\n") && !strings.HasPrefix(e.Old, "\r") {
		if err := inside(first, d.lineStart(s.Start)); err != nil {
			return err
		}
	}
	last := d.lineAt(max(s.Start, s.End-1))
	return inside(last, d.Text[min(s.End, d.rows[last].end):d.rows[last].end])
}

func lastRow(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// certainChecks lists the checks of a place that was not found literally for what two disturbances
// of a call can do.
func (r result) certainChecks() []func(*doc) *doubt {
	return []func(*doc) *doubt{r.marksLeft, r.bestKept, r.moved, r.emptied, r.firstLiteral, r.repeated, r.inUnit, r.closedUnknown, r.besideAlready}
}

// marksLeft reports a line that begins with a mark of a diff or a quotation and is not the file's.
func (r result) marksLeft(d *doc) *doubt {
	for _, l := range r.out {
		if !l.blank() && strings.Contains("+>-|", l.key[:1]) && !has(r.file, l.key) && !d.begins(l.key[:1]) {
			return r.doubt("the line " + visible(l.text) + " would begin with a mark that no line of the file has")
		}
	}
	return nil
}

// bestKept reports a line that both texts have with other letters or signs than the file, and that
// would be lost or not move as it does in the call.
func (r result) bestKept(*doc) *doubt {
	for _, n := range r.next {
		i := slices.IndexFunc(r.old, func(o line) bool { return o.key == n.key })
		if n.blank() || i < 0 || has(r.file, n.key) {
			continue
		}
		best, like := -1, 0.0
		for k, f := range r.file {
			if f.blank() {
				continue
			}
			is := likeness(f.key, n.key, alikeLine)
			if b := bareOfSigns(f.key); b != "" && strings.EqualFold(b, bareOfSigns(n.key)) {
				is = max(is, 0.99)
			}
			if is > like {
				best, like = k, is
			}
		}
		if best < 0 {
			continue
		}
		f := r.file[best]
		o := slices.IndexFunc(r.out, func(l line) bool { return l.key == f.key })
		switch {
		case o < 0:
			return r.doubt("the line " + visible(f.text) + " would be lost, and both texts have one like it: " + visible(n.text))
		case count(r.out, f.key) == 1 && count(r.file, f.key) == 1 && turn(r.old[i], n) != turn(f, r.out[o]):
			return r.doubt("the line " + visible(f.text) + " would not move as the one like it in new_string")
		}
	}
	return nil
}

// turn is the direction in which a line moves.
func turn(from, to line) int {
	return min(1, max(-1, depthOf(to.text)-depthOf(from.text)))
}

// moved reports a line that moves in the call and not in the file, or in another direction.
func (r result) moved(*doc) *doubt {
	one := func(key string, lists ...[]line) bool {
		return !slices.ContainsFunc(lists, func(list []line) bool { return count(list, key) != 1 })
	}
	at := func(list []line, key string) line {
		return list[slices.IndexFunc(list, func(l line) bool { return l.key == key })]
	}
	for k, l := range r.out {
		if l.blank() {
			continue
		}
		if one(l.key, r.next, r.old, r.file, r.out) {
			if turn(at(r.old, l.key), at(r.next, l.key)) != turn(at(r.file, l.key), l) {
				return r.doubt("the line " + visible(l.text) + " would not move as it does in the call")
			}
			if o, n, f := at(r.old, l.key), at(r.next, l.key), at(r.file, l.key); strings.HasPrefix(f.text, "\t") && strings.HasPrefix(o.text, "\t") &&
				depthOf(n.text)-depthOf(o.text) != depthOf(l.text)-depthOf(f.text) {
				return r.doubt("the line " + visible(l.text) + " would move further than in the call")
			}
			continue
		}
		if k == 0 || has(r.old, l.key) || has(r.next, l.key) || !one(l.key, r.file, r.out) || turn(at(r.file, l.key), l) != 0 {
			continue
		}
		above := r.out[k-1]
		if one(above.key, r.file, r.out) && has(r.old, above.key) && turn(at(r.file, above.key), above) > 0 {
			return r.doubt("the line " + visible(l.text) + " is not in old_string, and the line above it would move without it")
		}
	}
	return nil
}

// emptied reports a new line that opens a block with nothing in it where the indentation of
// old_string is not the file's.
func (r result) emptied(*doc) *doubt {
	other := slices.ContainsFunc(r.old, func(o line) bool {
		return !o.blank() && has(r.file, o.key) && !slices.ContainsFunc(r.file, func(f line) bool { return f.key == o.key && depthOf(f.text) == depthOf(o.text) })
	})
	next := slices.DeleteFunc(slices.Clone(r.next), line.blank)
	for k, n := range next {
		if other && k+1 < len(next) && strings.HasSuffix(n.key, "{") && !has(r.old, n.key) && depthOf(next[k+1].text) <= depthOf(n.text) {
			return r.doubt("new_string opens a block by " + visible(n.text) + " and has nothing deeper below it")
		}
	}
	return nil
}

// firstLiteral reports a first line that new_string has as the file does and old_string does not.
func (r result) firstLiteral(*doc) *doubt {
	if len(r.next) == 0 || len(r.old) == 0 || len(r.out) == 0 || len(r.file) == 0 || r.next[0].blank() {
		return nil
	}
	n := r.next[0].text
	if n == r.file[0].text && n != r.old[0].text && n != r.out[0].text {
		return r.doubt("the first line of new_string is that of the file, and would be indented otherwise")
	}
	return nil
}

// repeated reports a short line that stands in the place, or beside it, more often than in
// old_string, which lacks lines of the file, where new_string has it more or less often or leaves
// other lines out.
func (r result) repeated(d *doc) *doubt {
	texts := func(list []line) int {
		return len(slices.DeleteFunc(slices.Clone(list), line.blank))
	}
	if texts(r.file) <= texts(r.old) {
		return nil
	}
	lost := slices.ContainsFunc(r.old, func(o line) bool {
		return !o.blank() && has(r.file, o.key) && count(r.next, o.key) < count(r.old, o.key)
	})
	wide := d.list(max(0, r.from-1), min(len(d.rows), r.from+len(r.file)+1)-1)
	for _, f := range r.file {
		n := count(r.old, f.key)
		if f.blank() || f.tells() && !closes(f.key) || n == 0 {
			continue
		}
		if lost && count(r.file, f.key) > n || n != count(r.next, f.key) && count(wide, f.key) > n && !closes(f.key) {
			return r.doubt("the line " + visible(f.text) + " stands there more often than in old_string")
		}
	}
	return nil
}

// inUnit reports new lines in the file's steps of indentation where old_string has other ones.
func (r result) inUnit(d *doc) *doubt {
	unit := d.unit()
	if unit.char != ' ' || unit.width < 2 {
		return nil
	}
	odd := func(list []line) bool {
		return slices.ContainsFunc(list, func(l line) bool { return !l.blank() && depthOf(l.text)%unit.width != 0 })
	}
	deep := slices.ContainsFunc(r.next, func(l line) bool { return !l.blank() && depthOf(l.text) > 0 })
	if deep && odd(r.old) && !odd(r.next) && !odd(r.file) {
		return r.doubt("old_string is indented in other steps than the file, and new_string is not")
	}
	return nil
}

// closedUnknown reports the end of a block that both texts have, and neither the file nor the
// result; and one that the file has and old_string lacks where new_string adds the same.
func (r result) closedUnknown(*doc) *doubt {
	for _, f := range r.file {
		if closes(f.key) && !has(r.old, f.key) && has(r.next, f.key) {
			return r.doubt("the line " + visible(f.text) + " is not in old_string, and new_string has one like it")
		}
	}
	for _, o := range r.old {
		if closes(o.key) && has(r.next, o.key) && !has(r.file, o.key) && !has(r.out, o.key) {
			return r.doubt("the line " + visible(o.text) + " is not in the file, and new_string has it")
		}
	}
	return nil
}

// besideAlready reports a new line that stands just above or below the place already, and one that
// new_string has more often than old_string.
func (r result) besideAlready(d *doc) *doubt {
	last := r.from + len(r.file)
	beside := append(d.list(max(0, r.from-2), r.from-1), d.list(last, min(last+1, len(d.rows)-1))...)
	for _, l := range r.out {
		if l.blank() || !l.tells() || closes(l.key) {
			continue
		}
		if !has(r.file, l.key) && slices.ContainsFunc(beside, func(b line) bool { return b.text == l.text }) {
			return r.doubt("the line " + visible(l.text) + " stands beside the place already")
		}
		if count(r.out, l.key) > count(r.file, l.key) && has(r.file, l.key) && has(r.old, l.key) {
			return r.doubt("the line " + visible(l.text) + " would be there more often than in the file")
		}
	}
	return nil
}

// endsTwice doubts a place that ends, or begins, inside a line whose rest new_string has as well.
func (d *doc) endsTwice(s Span) *doubt {
	row := d.rows[d.lineAt(max(s.Start, s.End-1))]
	squeezed := func(s string) string { return strings.Join(strings.Fields(s), "") }
	next := text.WithNewlines(s.New, "\n")
	if s.End < row.end {
		rest := squeezed(d.Text[s.End:row.end])
		if last := next[strings.LastIndexByte(next, '\n')+1:]; len(rest) > 2 && strings.HasSuffix(squeezed(last), rest) {
			return &doubt{row: d.lineAt(s.Start), why: "old_string ends inside a line, and new_string has that line whole: its end would be there twice"}
		}
	}
	if before := squeezed(d.lineStart(s.Start)); before != "" && strings.HasPrefix(squeezed(firstRow(next)), before) {
		return &doubt{row: d.lineAt(s.Start), why: "old_string begins inside a line, and new_string has that line whole: its beginning would be there twice"}
	}
	return nil
}
