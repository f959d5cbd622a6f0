package textedit

import (
	"html"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"adze/internal/text"
)

// What a model adds to a whole text when it copies: line numbers, diff marks, quote marks, a fence,
// escapes, typography. A cleaner takes it off both texts of an edit. It counts only if the lines of
// old_string are more like lines of the file afterwards. Without this such an addition would pass
// for a typing error in each line.

// cleaner takes one kind of addition off.
type cleaner struct {
	step Step
	// old gives the readings of old_string without the addition; none if it has none.
	old func(d *doc, s string) []cleaned
	// exactly: the result must be in the file, line by line.
	exactly bool
}

// cleaned is a text without an addition, and what takes the same off the other text. next is false
// where that text has the addition in part.
type cleaned struct {
	text string
	next func(s string) (string, bool)
}

func cleaners() []cleaner {
	return []cleaner{
		{step: Fenced, old: func(_ *doc, s string) []cleaned { return offAll(s, unfenced) }},
		{step: Numbered, old: func(_ *doc, s string) []cleaned { return unnumbered(s) }},
		{step: Unmarked, old: func(_ *doc, s string) []cleaned { return unmarked(s) }},
		{step: Unescaped, old: func(_ *doc, s string) []cleaned { return unescaped(s) }, exactly: true},
		{step: Entities, old: func(_ *doc, s string) []cleaned { return offAll(s, unentitied) }, exactly: true},
		{step: Normalised, old: func(d *doc, s string) []cleaned { return d.plainer(s) }},
	}
}

// clean takes off what the model added to its copy, one kind after the other.
func (d *doc) clean(e Edit) (Edit, []Step, error) {
	var steps []Step
	if len(d.Text) > LenientLimit {
		for _, r := range unnumbered(e.Old) {
			if plain, whole := r.next(e.New); whole && strings.Contains(d.Text, r.text) {
				return Edit{Old: r.text, New: plain, All: e.All}, []Step{Numbered}, nil
			}
		}
		return e, nil, nil
	}
	if strings.Contains(e.Old, "\r") {
		e.Old, e.New = text.WithNewlines(e.Old, "\n"), text.WithNewlines(e.New, "\n")
	}
	for range 3 { // of several kinds, the outermost first
		best, score := -1, d.score(e.Old)
		var next Edit
		for i, c := range cleaners() {
			for _, r := range c.old(d, e.Old) {
				s := d.score(r.text)
				if !s.over(score) || c.exactly && s.lines < s.all {
					continue
				}
				plain, whole := r.next(e.New)
				if !whole {
					return e, nil, refuse(NoMatch, "both texts must be as in %s, but new_string has %q on some of its lines alone; write both texts without it", d.Name, string(c.step))
				}
				if is, was := kept(r.text, e.New), kept(r.text, plain); is > was || is == was && c.step == Unmarked && firstLike(r.text, e.New) > firstLike(r.text, plain) {
					plain = e.New // it has none of that: what is like it is the text's own
				}
				best, score, next = i, s, Edit{Old: r.text, New: plain, All: e.All}
			}
		}
		if best < 0 {
			for _, r := range d.plainer(e.Old) { // the file has none of these characters
				if s := d.score(r.text); s.lines >= score.lines && s.all == score.all && !slices.Contains(steps, Normalised) {
					best, next = len(cleaners())-1, Edit{Old: r.text, All: e.All}
					next.New, _ = r.next(e.New)
				}
			}
		}
		if best < 0 {
			break
		}
		if cleaners()[best].step == Fenced && (next.New == "" || next.New == e.New && strings.HasSuffix(next.New, "\n")) {
			next.Old += "\n" // which stood before the end of the fence
		}
		e, steps = next, append(steps, cleaners()[best].step)
	}
	return e, steps, nil
}

// firstLike is the likeness of the first lines.
func firstLike(a, b string) float64 {
	x, _, _ := strings.Cut(strings.TrimLeft(a, "\n"), "\n")
	y, _, _ := strings.Cut(strings.TrimLeft(b, "\n"), "\n")
	if x == y {
		return 1
	}
	return likeness(x, y, 0.1)
}

// score is how much a text is like lines of the file.
type score struct {
	all   int // lines with text
	lines int // that the file has, but for white space and look-alikes
	same  int // that it has just so
	tells bool
}

func (s score) over(than score) bool {
	if s.all == 0 || s.lines == 0 {
		return false
	}
	a, b := s.lines*max(1, than.all), than.lines*s.all // shares, since a reading may have more lines
	return (s.tells || a == b || s.same == s.all) && (a > b || a == b && s.same*max(1, than.all) > than.same*s.all)
}

func (d *doc) score(old string) (s score) {
	if d.exact == nil {
		d.exact = map[string]bool{}
		for i := range d.lines() {
			d.exact[d.row(i)] = true
		}
	}
	for _, line := range blockOf(old).lines {
		l := lineOf(line)
		if l.blank() {
			continue
		}
		s.all++
		if d.count(l.key) > 0 {
			s.lines++
			s.tells = s.tells || l.tells()
		}
		if d.exact[line] {
			s.same++
		}
	}
	return s
}

// offAll is the one reading of a text, by what takes an addition off a text that has it.
func offAll(s string, off func(string) (string, bool)) []cleaned {
	plain, ok := off(s)
	if !ok {
		return nil
	}
	return []cleaned{{plain, func(next string) (string, bool) {
		if plain, ok := off(next); ok {
			return plain, true
		}
		return next, true
	}}}
}

// unfenced takes the fence of Markdown off that stands around a whole text.
func unfenced(s string) (string, bool) {
	body := strings.Trim(s, "\n")
	first, rest, ok := strings.Cut(body, "\n")
	if !ok || !strings.HasPrefix(first, "```") || strings.ContainsAny(strings.Trim(first, "`"), " \t`") {
		return s, false
	}
	if rest == "```" {
		return "", true
	}
	plain, ok := strings.CutSuffix(rest, "\n```")
	return plain, ok && !strings.Contains(plain, "```")
}

// numberStyle is a way to write line numbers before lines: what stands before the number and behind
// it.
type numberStyle struct{ before, after string }

func numberStyles() []numberStyle {
	return []numberStyle{
		{"", "  "}, {"", "\t"}, {"", "→"}, {"", ": "}, {"", ":"}, {"", " | "}, {"", "| "}, {"", "|"}, {"L", ": "}, {"", ". "}, {"", ") "},
		{"[", "] "}, {"", " "}, {"L", ":"}, {"", " - "}, {"Line ", ": "}, {"line ", ": "}, {"", "→ "}, {"", " → "}, {"", " │ "}, {"", "│"},
	}
}

// cut takes the number off a line. A line that is blank behind it may lack the sign's white space.
func (st numberStyle) cut(line string) (rest string, n int, ok bool) {
	s, ok := strings.CutPrefix(strings.TrimLeft(line, " "), st.before)
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(s[:digits])
	if !ok || err != nil {
		return "", 0, false
	}
	if rest, ok := strings.CutPrefix(s[digits:], st.after); ok {
		return rest, n, true
	}
	if s = strings.TrimRight(s[digits:], " \t\r"); s == "" || s == strings.TrimSpace(st.after) {
		return "", n, true
	}
	return "", 0, false
}

// off takes the numbers off all lines with text. They count up; first is the first of them.
func (st numberStyle) off(s string) (plain string, first int, ok bool) {
	b := blockOf(s)
	last := -1
	for i, line := range b.lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		rest, n, ok := st.cut(line)
		if !ok || n <= last {
			return "", 0, false
		}
		if last < 0 {
			first = n
		}
		b.lines[i], last = rest, n
	}
	return b.text(), first, last >= 0
}

func (b block) text() string {
	s := strings.Join(b.lines, "\n")
	if b.ended {
		s += "\n"
	}
	return s
}

func unnumbered(s string) (list []cleaned) {
	for _, st := range numberStyles() {
		plain, first, ok := st.off(s)
		if !ok {
			continue
		}
		last := first + strings.Count(s, "\n") + 1
		list = append(list, cleaned{plain, func(next string) (string, bool) {
			b := blockOf(next)
			numbered, bare := 0, 0
			for i, line := range b.lines {
				rest, n, ok := st.cut(line)
				switch {
				case ok && n >= first-1 && n <= last+len(b.lines):
					b.lines[i] = rest
					numbered++
				case strings.TrimSpace(line) != "":
					bare++
				}
			}
			if numbered == 0 || bare > 0 && !strings.Contains(st.after, "  ") && numbered < bare {
				return next, numbered == 0
			}
			return b.text(), true
		}})
	}
	return list
}

// unmarked takes the marks of a diff, or of a quotation, off the beginnings of the lines.
func unmarked(s string) (list []cleaned) {
	for _, mark := range []string{"+ ", "- ", "> ", "+", "-", ">", "| ", "|"} {
		mine, _ := strings.CutSuffix(mark, " ")
		if plain, ok := offLines(s, mark); ok {
			list = append(list, cleaned{plain, func(next string) (string, bool) {
				for _, other := range []string{mark, "+" + mark[len(mine):], "-" + mark[len(mine):]} {
					if plain, ok := offLines(next, other); ok && (other == mark || strings.ContainsAny(mine, "+-")) {
						return plain, true
					}
				}
				if plain, ok := ofDiff(next, "-", plain); ok && strings.ContainsAny(mine, "+-") {
					return plain, true
				}
				return next, strings.Count("\n"+next, "\n"+mine) == 0
			}})
		}
	}
	if plain, ok := diffSide(s, "-", "+"); ok {
		list = append(list, cleaned{plain, func(next string) (string, bool) {
			if plain, ok := diffSide(next, "+", "-"); ok {
				return plain, true
			}
			if less, ok := offLines(next, " "); ok && kept(plain, less) > kept(plain, next) {
				return less, true
			}
			return next, strings.Count("\n"+next, "\n+")+strings.Count("\n"+next, "\n-") == 0
		}})
	}
	return list
}

// offLines takes a mark off each line with text.
func offLines(s, mark string) (string, bool) {
	b := blockOf(s)
	any := false
	for i, line := range b.lines {
		rest, ok := strings.CutPrefix(line, mark)
		switch {
		case ok:
			b.lines[i], any = rest, true
		case line == strings.TrimRight(mark, " ") && line != "":
			b.lines[i] = ""
		case strings.TrimSpace(line) != "":
			return s, false
		}
	}
	return b.text(), any
}

// ofDiff is the new side of a text that is a whole diff whose old side is old.
func ofDiff(s, mark, old string) (string, bool) {
	side, ok := diffSide(s, mark, "+")
	if !ok || strings.TrimRight(side, "\n") != strings.TrimRight(old, "\n") {
		return s, false
	}
	return diffSide(s, "+", mark)
}

// diffSide is one side of a text that is the body of a diff: the lines with a space or with this
// side's mark. Without one of this side's mark or the other's it is no diff.
func diffSide(s, mine, other string) (string, bool) {
	b := blockOf(s)
	out := block{ended: b.ended}
	marks := 0
	for _, line := range b.lines {
		switch {
		case strings.HasPrefix(line, mine):
			out.lines = append(out.lines, line[1:])
			marks++
		case strings.HasPrefix(line, " "):
			out.lines = append(out.lines, line[1:])
		case strings.HasPrefix(line, other):
			marks++
		case line == "":
			out.lines = append(out.lines, "")
		default:
			return s, false
		}
	}
	if len(out.lines) == 0 {
		return "", marks > 0
	}
	return out.text(), marks > 0
}

// escapeSign is an escape that texts of calls have once too often.
var escapeSign = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|.)`)
})

// unescaped reads escapes that were written twice. What was escaped, all or the line ends, quotes
// or tabs alone, is what fits the file.
func unescaped(s string) (list []cleaned) {
	if !strings.Contains(s, `\`) {
		return nil
	}
	for _, signs := range []string{`ntr"\u'/`, "n", "nt", `n"`, `nt"`, `"`, "t", "u", `"u`, "'", `\`, "`", "$"} {
		off := func(s string) (string, bool) {
			out := escapeSign().ReplaceAllStringFunc(s, func(sign string) string {
				if !strings.Contains(signs, sign[1:2]) {
					return sign
				}
				switch sign[1] {
				case 'n':
					return "\n"
				case 't':
					return "\t"
				case 'r':
					return ""
				case 'u':
					if n, err := strconv.ParseUint(sign[2:], 16, 16); err == nil && len(sign) == 6 {
						return string(rune(n))
					}
					return sign
				}
				return sign[1:]
			})
			return out, out != s
		}
		plain, ok := off(s)
		if !ok {
			continue
		}
		list = append(list, cleaned{plain, func(next string) (string, bool) {
			if !escapedLike(next, signs) {
				return next, true
			}
			plain, ok := off(next)
			if ok && strings.Contains(signs, "n") && !strings.Contains(signs, `\`) && tornQuotes(plain) {
				return next, false
			}
			return plain, true
		}})
	}
	return list
}

// escapedLike reports whether a text was escaped as well: it has an escape and nowhere the plain
// character.
func escapedLike(s, signs string) bool {
	plain := map[byte]string{'n': "\n", 't': "\t", '"': `"`, '\'': "'", '`': "`", '$': "$"}
	body := strings.TrimRight(s, "\n")
	any := false
	for i := range len(signs) {
		sign := `\` + signs[i:i+1]
		if !strings.Contains(body, sign) {
			continue
		}
		any = true
		if char := plain[signs[i]]; char != "" && strings.Contains(strings.ReplaceAll(body, sign, ""), char) {
			return false
		}
	}
	return any
}

// tornQuotes reports whether a line has one quote of a pair alone: an escape within a text was read
// as a line end.
func tornQuotes(s string) bool {
	for line := range strings.Lines(s) {
		if strings.Count(strings.ReplaceAll(line, `\"`, ""), `"`)%2 == 1 {
			return true
		}
	}
	return false
}

// unentitied reads the entities of HTML in a text that has no plain character for which they stand.
func unentitied(s string) (string, bool) {
	if strings.ContainsAny(s, "<>") {
		return s, false
	}
	out := html.UnescapeString(s)
	return out, out != s
}

// plainer writes typography that the file has nowhere in plain characters.
func (d *doc) plainer(s string) []cleaned {
	odd := map[rune]bool{}
	for i, r := range s {
		if r < utf8.RuneSelf || odd[r] || strings.ContainsRune(d.Text, r) {
			continue
		}
		if _, ok := plainFor(r, s[min(len(s), i+max(1, utf8.RuneLen(r))):]); ok && r != '\r' {
			odd[r] = true
		}
	}
	if len(odd) == 0 {
		return nil
	}
	return offAll(s, func(s string) (string, bool) {
		var out strings.Builder
		for _, r := range s {
			plain, ok := plainFor(r, "")
			if !ok || !odd[r] {
				plain = string(r)
			}
			out.WriteString(plain)
		}
		return out.String(), out.String() != s
	})
}

// markup reports files in which marks at the beginnings of lines, fences and entities are text.
func markup(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".html", ".htm", ".xml", ".svg", ".xhtml", ".vue", ".jsx", ".tsx", ".svelte", ".txt", ".rst", ".adoc", ".txtar", ".diff", ".patch", ".yaml", ".yml", ".csv", ".toml", ".org", ".tex", "":
		return true
	}
	return false
}

// cleanNew takes off what a model added to new_string alone: old_string is in the file as written.
// Without lines that both texts have it refuses what no file of this kind has.
func (d *doc) cleanNew(e Edit) (Edit, []Step, error) {
	first, steps, err := d.cleanNewOnce(e)
	if len(steps) == 0 || err != nil {
		return first, steps, err
	}
	second, more, err := d.cleanNewOnce(first)
	return second, append(steps, more...), err
}

func (d *doc) cleanNewOnce(e Edit) (Edit, []Step, error) {
	if len(d.Text) > LenientLimit || strings.TrimSpace(e.New) == "" {
		return e, nil, nil
	}
	if plain, ok := unfenced(e.New); ok && !markup(d.Name) && !strings.Contains(e.Old, "```") {
		if strings.HasSuffix(e.Old, "\n") {
			plain += "\n"
		}
		return Edit{Old: e.Old, New: plain, All: e.All}, []Step{Fenced}, nil
	}
	if side, ok := ofDiff(e.New, "-", e.Old); ok {
		return Edit{Old: e.Old, New: d.endedAs(e, side), All: e.All}, []Step{Unmarked}, nil
	}
	was := kept(e.Old, e.New)
	best, step := "", Step("")
	for _, c := range cleaners() {
		if c.step == Normalised || c.step == Fenced {
			continue
		}
		for _, r := range c.old(d, e.New) {
			if r.text == e.New || strings.TrimRight(r.text, "\n") == strings.TrimRight(e.Old, "\n") || c.step == Unescaped && tornQuotes(r.text) {
				continue // what is added is the edit
			}
			if c.step == Unmarked && !strings.Contains(d.Text, e.Old) && !strings.Contains("\n"+e.New, "\n+") && !strings.HasPrefix(e.New, ">") {
				continue // a copy that is shifted looks like the side of a diff
			}
			text := r.text
			if is := kept(e.Old, text); is > was && d.evident(c.step, e, text, is) {
				best, step, was = text, c.step, is
			}
		}
	}
	if step != "" {
		return Edit{Old: e.Old, New: d.endedAs(e, best), All: e.All}, []Step{step}, nil
	}
	if st, n, ok := d.numberedByRow(e); ok {
		text, _, _ := st.off(e.New)
		return Edit{Old: e.Old, New: text, All: e.All}, []Step{Numbered}, nil
	} else if n > 0 {
		return e, nil, refuse(NoMatch, "new_string begins with %d, the number of its line in %s; write it as it is to stand in the file", n, d.Name)
	}
	if d.escapedNew(e) {
		return e, nil, refuse(NoMatch, "new_string has escapes or entities where old_string and %s have the characters themselves; write it as it is to stand in the file", d.Name)
	}
	if d.oddNew(e) {
		return e, nil, refuse(NoMatch, "each line of new_string begins with %q, as in a diff or a listing, and no line of %s does; write new_string as it is to stand in the file", firstSign(e.New), d.Name)
	}
	return e, nil, nil
}

// endedAs gives a text the line end that new_string had.
func (d *doc) endedAs(e Edit, s string) string {
	if strings.HasSuffix(e.Old, "\n") && !strings.HasSuffix(s, "\n") {
		return s + "\n"
	}
	return s
}

// kept counts the lines with text of old that next has, just so.
func kept(old, next string) (n int) {
	have := map[string]int{}
	for _, s := range blockOf(next).lines {
		have[strings.TrimRight(s, " \t")]++
	}
	for _, s := range blockOf(old).lines {
		if s = strings.TrimRight(s, " \t"); strings.TrimSpace(s) != "" && have[s] > 0 {
			have[s]--
			n++
		}
	}
	return n
}

// texts counts the lines with text.
func texts(s string) (n int) {
	for _, line := range blockOf(s).lines {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}

// oddNew reports whether each line of new_string has a mark of a diff or of a quotation that
// nothing in the file has.
func (d *doc) oddNew(e Edit) bool {
	for _, mark := range []string{"+", "-", ">", "&gt;"} {
		if _, ok := offLines(e.New, mark); ok && !markup(d.Name) && !strings.Contains("\n"+d.Text, "\n"+mark) && !strings.Contains("\n"+e.Old, "\n"+mark) {
			return true
		}
	}
	return false
}

// evident reports whether is lines of old_string, which new_string has only without an addition,
// tell that nobody meant it.
func (d *doc) evident(step Step, e Edit, plain string, is int) bool {
	all := texts(e.Old)
	if step == Numbered || step == Unescaped && !strings.Contains(strings.TrimSpace(e.New), "\n") && strings.Contains(strings.TrimSpace(plain), "\n") {
		return true
	}
	if markup(d.Name) {
		return is >= 2 && is >= all-1
	}
	return is >= 2 || is == all || texts(e.New) > 1
}

// numberedByRow is the style of numbers that count the lines of new_string from the row of the
// place. Where that may be chance, ok is false and n is the number.
func (d *doc) numberedByRow(e Edit) (st numberStyle, n int, ok bool) {
	row := d.lineAt(max(0, strings.Index(d.Text, e.Old))) + 1
	for _, st := range numberStyles() {
		plain, first, ok := st.off(e.New)
		if _, _, had := st.off(e.Old); !ok || had || texts(plain) == 0 {
			continue
		}
		if in := indentOf(e.Old); in != "" && in == indentOf(plain) && st.after != " " {
			return st, first, true // the indentation stands behind the number
		}
		if texts(plain) > 1 && strings.ContainsAny(st.after, "→│\t") && !markup(d.Name) {
			return st, first, true
		}
		if first != row && (first != 1 || texts(plain) < 3 || markup(d.Name) || st.after == " ") {
			continue
		}
		if first == row && texts(plain) > 1 || strings.ContainsAny(st.after, "→|│") {
			return st, first, true
		}
		if !markup(d.Name) && st.after != " " {
			return st, first, false
		}
	}
	return st, 0, false
}

// escapedNew reports whether new_string has escapes or entities and none of the characters for
// which they stand, while old_string has these.
func (d *doc) escapedNew(e Edit) bool {
	old := strings.TrimSpace(e.Old)
	if ext := path.Ext(d.Name); ext != ".tex" && ext != ".md" && !strings.Contains(strings.TrimSpace(e.New), "\n") && lineEndOutside(e.New) && !lineEndOutside(d.Text) {
		return true
	}
	if strings.HasPrefix(e.New, `\n`) && strings.HasPrefix(e.Old, "\n") {
		return true
	}
	for line := range strings.Lines(e.New) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), `\t`) && !strings.Contains(e.Old, `\t`) && path.Ext(d.Name) != ".tex" {
			return true
		}
	}
	if strings.ContainsAny(old, `"`) && escapedLike(e.New, `"`) && !strings.Contains(e.Old, `\"`) {
		return true
	}
	if markup(d.Name) {
		return false
	}
	plain, ok := unentitied(e.New)
	return ok && plain != e.New && !strings.ContainsAny(e.New, `"'`) && strings.ContainsAny(e.Old, `<>"'&`) && !strings.Contains(d.Text, "&lt;") && !strings.Contains(d.Text, "&#") &&
		!strings.Contains(d.Text, "&quot;") && !strings.Contains(d.Text, "&amp;")
}

// quoted is a text in quotes, or an expression between slashes, on one line.
var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|/[^/\\s][^/\\n]*/")
})

// lineEndOutside reports whether a text has the escape of a line end outside quotes.
func lineEndOutside(s string) bool {
	return strings.Contains(s, `\n`) && strings.Contains(quoted().ReplaceAllString(s, ""), `\n`)
}

func firstSign(s string) string {
	s = strings.TrimLeft(s, " \n")
	if i := strings.IndexAny(s, " \t"); i > 0 {
		return s[:min(i, 12)]
	}
	return s[:min(len(s), 3)]
}
