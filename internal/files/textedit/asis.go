package textedit

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A copy that is in the file as written can still come with a new text that is not: without the
// indentation of its first line, in another unit, joined to the line beside it, or with a comment
// in the place of lines. asIs mends what is certain, and refuses what nobody means.
func (d *doc) asIs(e Edit) (Edit, error) {
	at := strings.Index(d.Text, e.Old)
	if at < 0 && e.New != "" && len(d.Text) <= LenientLimit {
		even, err := d.sameUnit(at, e)
		if err != nil {
			return e, err
		}
		return d.firstIndent(at, even)
	}
	if at < 0 || len(d.Text) > LenientLimit || strings.Contains(d.Text[at+1:], e.Old) || strings.TrimSpace(e.Old) == "" {
		return e, nil
	}
	first := func(check func(int, Edit) (Edit, error)) func(int, Edit) (Edit, error) {
		return func(at int, e Edit) (Edit, error) { return behindBlank(at, e, check) }
	}
	steps := []func(int, Edit) (Edit, error){d.indentStart, first(d.sameUnit), first(d.firstIndent), d.signsKept, d.cutShort, d.closedTwice, d.unjoined,
		d.markedNew, d.quotesEscaped, d.unindented, d.besideTwice}
	for _, step := range steps {
		var err error
		if e, err = step(at, e); err != nil {
			return e, err
		}
		if at = strings.Index(d.Text, e.Old); at < 0 {
			return e, nil
		}
	}
	return e, nil
}

// lineStart is what stands on the line before the place.
func (d *doc) lineStart(at int) string {
	return d.Text[strings.LastIndexAny(d.Text[:at], "\r\n")+1 : at]
}

// indentStart takes the indentation into a copy that begins behind it, where new_string begins with
// it, or deletes the lines.
func (d *doc) indentStart(at int, e Edit) (Edit, error) {
	before := d.lineStart(at)
	if before == "" || strings.Trim(before, " \t") != "" || strings.HasPrefix(e.New, "\n") && strings.TrimSpace(e.New) != "" {
		return e, nil
	}
	gone := strings.TrimSpace(e.New) == "" && strings.HasSuffix(e.Old, "\n")
	if gone || indentOf(e.Old) == "" && indentOf(e.New) == before {
		return Edit{Old: before + e.Old, New: e.New, All: e.All}, nil
	}
	return e, nil
}

// plainMargins writes no-break spaces in the indentation of new lines as spaces: they are never
// meant there.
func (d *doc) plainMargins(s string) string {
	if !strings.Contains(s, "\u00a0") || strings.Contains(d.Text, "\u00a0") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		body := strings.TrimLeft(line, " \t\u00a0")
		lines[i] = strings.ReplaceAll(line[:len(line)-len(body)], "\u00a0", " ") + body
	}
	return strings.Join(lines, "\n")
}

// indentKind is the character of all indentation, ' ' or '\t'; 0 where there is none or both.
func indentKind(lines []string) (kind byte) {
	for _, s := range lines {
		in := indentOf(s)
		if in == "" || in == s {
			continue
		}
		if strings.Trim(in, in[:1]) != "" || kind != 0 && in[0] != kind {
			return 0
		}
		kind = in[0]
	}
	return kind
}

// sameUnit writes the indentation of a new text in the file's character where old_string has it in
// that one alone and new_string in the other alone.
func (d *doc) sameUnit(at int, e Edit) (Edit, error) {
	before := ""
	if at >= 0 {
		before = d.lineStart(at)
	}
	old, next := blockOf(before+e.Old), blockOf(e.New)
	file, model, all := indentKind(old.lines), indentKind(next.lines), indentKindOfAll(d)
	if file == 0 {
		file = all
	}
	if at >= 0 && file == ' ' && model == ' ' {
		return e, d.unevenShift(old, next)
	}
	if strings.TrimSpace(before) != "" || file == 0 || model == 0 || file == model {
		return e, nil
	}
	p, ok := alignWhole(linesOf(old.lines), linesOf(next.lines))
	if !ok {
		return e, nil
	}
	from, to := 0, 0 // that many characters of the model's are so many of the file's
	for i, k := range p.to {
		if k < 0 || old.lines[i] == "" || from < 0 {
			continue
		}
		was, is := len(indentOf(old.lines[i])), len(indentOf(next.lines[k]))
		if i == 0 && is == 0 || was == 0 && is == 0 {
			continue
		}
		if was == 0 || is == 0 { // it moves, or the unit is another on each line
			from = -1
			break
		}
		if from > 0 && was*from != is*to {
			from = -1
			break
		}
		from, to = is, was
	}
	wanted := func() error {
		return refuse(NoMatch, "new_string is indented by other characters than old_string and %s (%s); write it with those of the file", d.Name, map[byte]string{' ': "spaces", '\t': "tabs"}[file])
	}
	if from == 0 {
		if file != all || markup(d.Name) {
			return e, nil
		}
		if from, to = modelUnit(next.lines), d.unit().width; indentOf(next.lines[0]) != "" || from == 0 {
			return e, wanted()
		}
	}
	if width := d.unit().width; from < 0 || model == '\t' && from*width != to || file == '\t' && (from%to != 0 || from/to > 8 || modelUnit(next.lines)%(from/to) != 0) {
		return e, wanted()
	}
	for i, s := range next.lines {
		n := len(indentOf(s)) * to
		if n%from != 0 {
			return e, wanted()
		}
		next.lines[i] = strings.Repeat(string(file), n/from) + strings.TrimLeft(s, " \t")
	}
	return Edit{Old: e.Old, New: next.text(), All: e.All}, nil
}

// unevenShift refuses new text in which all lines that both texts have stand some spaces beside
// their place, and that is no step of the file's.
func (d *doc) unevenShift(old, next block) error {
	p, ok := alignWhole(linesOf(old.lines), linesOf(next.lines))
	unit, by := d.unit().width, 0
	if !ok || unit < 2 {
		return nil
	}
	for i, k := range p.to {
		if k < 0 || strings.TrimSpace(old.lines[i]) == "" {
			continue
		}
		shift := depthOf(next.lines[k]) - depthOf(old.lines[i])
		if shift%unit == 0 || by != 0 && shift != by {
			return nil
		}
		by = shift
	}
	if by == 0 {
		return nil
	}
	return refuse(NoMatch, "the lines of new_string stand %d spaces beside those of old_string, which is no step of indentation of %s; write both with its indentation", abs(by), d.Name)
}

func indentKindOfAll(d *doc) byte {
	var list []string
	for i := range d.lines() {
		list = append(list, d.row(i))
	}
	return indentKind(list)
}

// firstIndent gives the first new line the indentation that it lost: the other lines have theirs.
func (d *doc) firstIndent(at int, e Edit) (Edit, error) {
	old, next := blockOf(e.Old), blockOf(e.New)
	indent := indentOf(old.lines[0])
	if at >= 0 && d.lineStart(at) != "" || indent == "" || indentOf(next.lines[0]) != "" || next.lines[0] == "" || strings.TrimSpace(old.lines[0]) == "" {
		return e, nil
	}
	p, ok := alignWhole(linesOf(old.lines), linesOf(next.lines))
	if !ok {
		return e, nil
	}
	others, moved, deep := 0, false, 0
	for i, k := range p.to {
		if i == 0 || k <= 0 || strings.TrimSpace(old.lines[i]) == "" {
			continue
		}
		if indentOf(old.lines[i]) == indentOf(next.lines[k]) {
			others++
		} else if depthOf(next.lines[k]) < depthOf(old.lines[i]) {
			moved = true
		}
	}
	for _, s := range next.lines[1:] {
		if strings.TrimSpace(s) != "" && strings.HasPrefix(indentOf(s), indent) {
			deep++
		}
	}
	alike := p.to[0] == 0
	same := alike && strings.TrimSpace(old.lines[0]) == strings.TrimSpace(next.lines[0])
	switch {
	case moved || same && strings.Join(old.lines[1:], "\n") == strings.Join(next.lines[1:], "\n"):
		return e, nil // lines move to the left
	case at >= 0 && alike && (others > 0 || same) && len(indent) > d.unit().width:
		next.lines[0] = indent + next.lines[0]
		return Edit{Old: e.Old, New: next.text(), All: e.All}, nil
	case slices.Contains(p.to, 0) && !alike: // it stands below in the copy
		if below := indentOf(old.lines[slices.Index(p.to, 0)]); others == 0 || below == "" {
			return e, nil
		}
		return e, refuse(NoMatch, "the first line of new_string lost the indentation that it has in old_string; write both texts with the indentation of %s", d.Name)
	case !alike && atMargin(d.Name, next.lines[0]):
		return e, nil // a label or a directive stands at the margin
	case alike || deep > 0 || others > 0 || !same && texts(e.New) == 1 || alikeBelow(old.lines, next.lines):
		return e, refuse(NoMatch, "the first line of old_string (line %d of %s) is indented by %s, and that of new_string is not; if it is to stand at the margin, change its words first and its indentation then",
			d.lineAt(max(at, 0))+1, d.Name, visible(indent))
	}
	return e, nil
}

// alikeBelow reports whether as many lines follow the first in both texts, and each is as deep.
func alikeBelow(old, next []string) bool {
	for i := range old {
		if len(old) != len(next) || i > 0 && indentOf(old[i]) != indentOf(next[i]) {
			return false
		}
	}
	return len(old) > 1
}

// atMargin reports labels and directives, which stand at the margin wherever they are.
func atMargin(name, line string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".m", ".go", ".s", ".asm", ".pl":
		word, _, _ := strings.Cut(line, " ")
		return strings.HasPrefix(line, "#") || strings.HasSuffix(line, ":") && (word == line || slices.Contains([]string{"public", "protected", "private"}, word))
	}
	return false
}

// signsKept takes a comma, a semicolon or such behind the copy into it where new_string has it too:
// it would double.
func (d *doc) signsKept(at int, e Edit) (Edit, error) {
	end := at + len(e.Old)
	if end >= len(d.Text) || e.New == "" {
		return e, nil
	}
	sign := d.Text[end : end+1]
	rest := d.Text[end+1:]
	atEnd := rest == "" || strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r")
	if strings.HasSuffix(e.New, sign) && !strings.HasSuffix(e.Old, sign) && (strings.Contains(",;", sign) || atEnd && strings.Contains(":.", sign)) {
		e.Old += sign
	}
	return e, nil
}

// closedTwice refuses new text that closes a block which the line behind the place closes already.
func (d *doc) closedTwice(at int, e Edit) (Edit, error) {
	open := func(s string) int {
		return strings.Count(s, "{") + strings.Count(s, "(") + strings.Count(s, "[") - strings.Count(s, "}") - strings.Count(s, ")") - strings.Count(s, "]")
	}
	end := at + len(e.Old)
	lines := strings.Split(strings.TrimRight(e.New, "\r\n"), "\n")
	last := strings.TrimRight(lines[len(lines)-1], "\r")
	if len(lines) < 2 || open(e.New) >= open(e.Old) || !closes(keyOf(last)) {
		return e, nil
	}
	row := d.lineAt(max(at, end-1)) + 1
	for row < len(d.rows) && strings.TrimSpace(d.row(row)) == "" {
		row++
	}
	if row < len(d.rows) && d.row(row) == last && unbalances(d.Text, e, keyOf(last)[0]) {
		return e, refuse(NoMatch, "line %d of %s is %s, and new_string ends with one that old_string does not have: the block would be closed twice; copy that line, too, or leave it out of new_string",
			row+1, d.Name, visible(d.row(row)))
	}
	return e, nil
}

// unbalances reports whether an edit leaves a text with more of a closing sign too many, or too
// few, than it had.
func unbalances(s string, e Edit, closer byte) bool {
	opener, ok := map[byte]string{'}': "{", ')': "(", ']': "["}[closer]
	open := func(s string) int { return strings.Count(s, opener) - strings.Count(s, string(closer)) }
	return !ok || abs(open(s)-open(e.Old)+open(e.New)) > abs(open(s))
}

// cutShort refuses a copy that begins or ends in the middle of a line where new_string has the
// whole line: the rest would be there twice.
func (d *doc) cutShort(at int, e Edit) (Edit, error) {
	const long = 6 // bytes that do not stand there twice by chance
	end := at + len(e.Old)
	before := strings.TrimLeft(d.lineStart(at), " \t")
	after := d.Text[end:]
	if i := strings.IndexAny(after, "\r\n"); i >= 0 {
		after = after[:i]
	}
	after = strings.TrimRight(after, " \t")
	first, last := strings.TrimLeft(e.New, " \t"), strings.TrimRight(e.New, " \t\r\n")
	several := strings.Contains(strings.TrimSpace(e.Old), "\n")
	twice := func(part string) bool {
		return len(part) >= long || several && strings.TrimSpace(part) != ""
	}
	var part string
	switch {
	case before != "" && twice(before) && strings.HasPrefix(first, before) && !strings.HasPrefix(strings.TrimLeft(e.Old, " \t"), before):
		part = before
	case before != "" && several && firstRow(first) == before+firstRow(e.Old):
		part = before
	case !strings.HasSuffix(e.Old, "\n") && twice(after) && strings.HasSuffix(last, after) && (several || !strings.HasSuffix(e.Old, after)):
		part = after
	default:
		return e, nil
	}
	return e, refuse(NoMatch, "old_string begins or ends in the middle of a line of %s, and new_string has the whole line: %q would be there twice. Line %d is:\n%s\ncopy it whole",
		d.Name, part, d.lineAt(at)+1, visible(d.row(d.lineAt(at))))
}

func firstRow(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimRight(s, " \t\r")
}

// unjoined keeps the line ends at the ends of the copy that new_string forgot: no line is to be
// joined to the next.
func (d *doc) unjoined(at int, e Edit) (Edit, error) {
	end := at + len(e.Old)
	nl := func(s string) bool { return strings.HasPrefix(s, "\n") || strings.HasPrefix(s, "\r") }
	if e.New == "" {
		return e, nil
	}
	if strings.HasSuffix(e.Old, "\n") && !strings.HasSuffix(e.New, "\n") && end < len(d.Text) && !nl(d.Text[end:]) && strings.TrimRight(e.New, " \t") == e.New {
		whole := strings.TrimSpace(d.lineStart(at)) == "" || strings.HasPrefix(e.Old, "\n")
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(d.Text[end:], " \t"))
		if whole && !strings.ContainsRune(")]};,.", next) {
			e.New += "\n"
		}
	}
	if strings.HasPrefix(e.Old, "\n") && !nl(e.New) && at > 0 && d.Text[at-1] != '\n' {
		if r, _ := utf8.DecodeRuneInString(e.New); unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || strings.Contains(strings.TrimSpace(e.New), "\n") && !unicode.IsSpace(r) {
			e.New = "\n" + e.New
		}
	}
	return e, nil
}

// standsFor finds a line of new_string with dots, as a comment or alone, that comes in the place of
// lines of old_string and is no line of the file: it stands for them, and would delete them. It
// returns the line, or "".
func (d *doc) standsFor(e Edit) string {
	old, next := blockOf(e.Old), blockOf(e.New)
	p, ok := alignWhole(linesOf(old.lines), linesOf(next.lines))
	if !ok {
		return ""
	}
	gone := texts(e.Old) - kept(e.Old, e.New)
	for i, k := range p.to {
		if k < 0 && strings.TrimSpace(old.lines[i]) != "" {
			gone++
		}
	}
	for k, line := range next.lines {
		line = strings.TrimSpace(line)
		if gone == 0 || !dots(line) && !omits(line) || d.count(keyOf(line)) > 0 || slices.Contains(p.to, k) && has(linesOf(old.lines), keyOf(line)) {
			continue
		}
		if _, comment := uncomment(line); comment || !stub(d.Name, next.lines[:k]) {
			return line
		}
	}
	return ""
}

// dots reports whether a line says that something is left out: dots alone, or a comment that begins
// with them.
func dots(line string) bool {
	core, comment := uncomment(line)
	core = strings.ReplaceAll(core, "…", "...")
	bare := strings.Trim(core, "[](){}<> ")
	return strings.HasPrefix(bare, "...") && (comment || strings.Trim(bare, ".") == "")
}

// stub reports whether dots are a body in Python: they come behind what opens one.
func stub(name string, above []string) bool {
	if ext := strings.ToLower(path.Ext(name)); ext != ".py" && ext != ".pyi" && ext != ".ipynb" {
		return false
	}
	for i := len(above) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(above[i]); s != "" {
			return strings.HasSuffix(s, ":") || strings.HasSuffix(s, `"""`) || strings.HasSuffix(s, "'''")
		}
	}
	return true
}
