package textedit

import (
	"slices"
	"strings"
)

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// indents says which indentation of the file stands for one of the copy: moved by the same step,
// or, where the copy counts in another unit, level by level.
type indents struct {
	same   bool              // the new text is written with the file's indentation
	table  map[string]string // copy to file
	unsure bool              // whether it is, or with the copy's, is not certain
	mixed  bool              // one indentation of the copy stands for several of the file
	file   unit
	step   int // width of the copy's unit in its own characters
	known  map[string]bool
}

// unit is one step of indentation.
type unit struct {
	char  byte // ' ' or '\t'; if 0, there is no indentation
	width int
}

// indents compares the copy's indentation with that of its rows. why says what is not certain.
func (m merge) indents() (in indents, why string) {
	in = indents{table: map[string]string{}, known: map[string]bool{}, same: true}
	literal, bare := true, true
	in.file, in.step = m.unit(), least(m.old, m.next)
	for i := range m.rows {
		in.known[indentOf(m.row(i))] = true
	}
	for i, s := range m.old {
		if blank(s) {
			continue
		}
		is, was := indentOf(m.row(m.to[i])), indentOf(s)
		if had, ok := in.table[was]; ok && had != is {
			in.mixed = true
		}
		in.table[was] = is
		bare = bare && was == ""
		literal = literal && is == was
	}
	if literal || blank(strings.Join(m.next, "")) {
		return in, ""
	}
	byCopy, byFile := m.votes()
	if byFile {
		return in, ""
	}
	in.same, in.unsure = false, !byCopy
	if !bare && (in.mixed || !in.even()) {
		return in, "the indentation of old_string differs from that of the file by more than one step"
	}
	if m.flat() {
		return in, "old_string and new_string have lost the indentation of their lines"
	}
	return in, ""
}

// votes says whether the new text stands as deep as the copy, or as the file: what most of the
// lines say that the edit keeps, if the first line says so too, or else those that it replaces.
func (m merge) votes() (byCopy, byFile bool) {
	vote := func(i int, s string) (byCopy, byFile int) {
		if i < 0 || blank(s) || m.to[i] < 0 {
			return 0, 0
		}
		switch is, was := indentOf(m.row(m.to[i])), indentOf(m.old[i]); {
		case is == was:
		case indentOf(s) == was:
			return 1, 0
		case indentOf(s) == is:
			return 0, 1
		}
		return 0, 0
	}
	text := func(s string) bool { return !blank(s) }
	old, file := vote(slices.IndexFunc(m.old, text), m.next[slices.IndexFunc(m.next, text)])
	olds, files := old, file
	for k, i := range m.kept {
		x, y := vote(i, m.next[k])
		olds, files = olds+x, files+y
	}
	for k, i := range m.near {
		if x, y := vote(i, m.next[k]); olds+files == 0 {
			olds, files = x, y
		}
	}
	return olds > 0 && (files == 0 || old > 0 && olds > most*files), files > 0 && (olds == 0 || file > 0 && files > most*olds)
}

const most = 3 // times as many

// flat reports whether nothing in both texts is indented and the new one has a line that opens a
// block: how deep the lines below it stand is lost.
func (m merge) flat() bool {
	for _, s := range append(m.old[:len(m.old):len(m.old)], m.next...) {
		if indentOf(s) != "" && !blank(s) {
			return false
		}
	}
	for k, s := range m.next {
		s = strings.TrimSpace(s)
		if k+1 < len(m.next) && m.kept[k] < 0 && s != "" && strings.ContainsAny(s[len(s)-1:], ":{([=>") {
			return true
		}
	}
	return false
}

// of is the file's indentation for one of the new text's.
func (in indents) of(indent string) (string, bool) {
	if in.same {
		return indent, in.known[indent] || in.file.char == 0 || strings.Trim(indent, string(in.file.char)) == "" && len(indent)%in.file.width == 0
	}
	is, ok := in.table[indent]
	switch {
	case in.mixed || in.unsure:
		return "", false
	case ok:
		return is, true
	}
	if n, ok := in.measure(indent); ok {
		out := strings.Repeat(string(in.file.char), n)
		return out, n%in.file.width == 0 || in.known[out]
	}
	out, ok := in.prefixed(indent)
	return out, ok && (in.known[out] || len(out) < len(indent))
}

// prefixed adds what all lines of the file have before their indentation in the copy, or takes off
// what they lack.
func (in indents) prefixed(indent string) (string, bool) {
	more, less := "", ""
	first, longer, shorter := true, true, true
	for was, is := range in.table {
		if first {
			more, longer = strings.CutSuffix(is, was)
			less, shorter = strings.CutSuffix(was, is)
			first = false
		}
		longer, shorter = longer && is == more+was, shorter && was == less+is
	}
	if longer {
		return more + indent, true
	}
	rest, ok := strings.CutPrefix(indent, less)
	return rest, shorter && ok
}

// even reports whether all lines of the copy are moved alike, or scaled alike.
func (in indents) even() bool {
	for was := range in.table {
		if len(in.table) == 1 {
			return true
		}
		_, measured := in.measure(was)
		_, prefixed := in.prefixed(was)
		if !measured && !prefixed {
			return false
		}
	}
	return true
}

// measure gives the number of characters of the file's unit.
func (in indents) measure(indent string) (int, bool) {
	if in.file.char == 0 || mixedIndent(indent) {
		return 0, false
	}
	char := string(in.file.char)
	x0, y0, first := 0, 0, true
	same := strings.Trim(indent, char) == ""
	for was, is := range in.table {
		if mixedIndent(was) || strings.Trim(is, char) != "" {
			return 0, false
		}
		same = same && strings.Trim(was, char) == ""
		if first || len(was) < x0 {
			x0, y0, first = len(was), len(is), false
		}
	}
	dx, dy := 0, 0
	for was, is := range in.table {
		if len(was) > x0 && (dx == 0 || len(was)-x0 < dx) {
			dx, dy = len(was)-x0, len(is)-y0
		}
	}
	if dx == 0 { // one depth alone: levels are counted in the units of both sides
		dx, dy = in.step, in.file.width
		if same && dx != dy && x0*dy != y0*dx {
			return 0, false // a shift of several levels, or another unit
		}
	} else if same && dx != dy && (char == "\t" || x0*dy != y0*dx) {
		return 0, false // steps of another width, but not of another unit
	}
	for was, is := range in.table {
		if (len(was)-x0)*dy != (len(is)-y0)*dx {
			return 0, false
		}
	}
	more := len(indent) - x0
	if dx == 0 || dy <= 0 || more*dy%dx != 0 {
		return 0, false
	}
	n := y0 + more*dy/dx
	return n, n >= 0
}

func mixedIndent(s string) bool { return strings.Contains(s, " ") && strings.Contains(s, "\t") }

// least is the smallest step between two depths of the texts.
func least(texts ...[]string) int {
	depths := map[int]bool{}
	for _, list := range texts {
		for _, s := range list {
			if !blank(s) {
				depths[len(indentOf(s))] = true
			}
		}
	}
	step := 0
	for a := range depths {
		for b := range depths {
			if a > b && (step == 0 || a-b < step) {
				step = a - b
			}
		}
	}
	return step
}

// unit is the file's, judged by what most lines are deeper than the one above.
func (d *doc) unit() unit {
	tabs, spaces, before := 0, 0, 0
	var steps [9]int
	for i := range d.rows {
		s := d.row(i)
		if blank(s) {
			continue
		}
		indent := indentOf(s)
		switch {
		case strings.HasPrefix(indent, "\t"):
			tabs++
		case indent != "":
			spaces++
		}
		if more := len(indent) - before; more > 0 && more < len(steps) && strings.Trim(indent, " ") == "" {
			steps[more]++
		}
		before = len(indent)
	}
	switch {
	case tabs == 0 && spaces == 0:
		return unit{}
	case tabs > spaces:
		return unit{'\t', 1}
	}
	best := 1
	for w := range steps {
		if steps[w] > steps[best] {
			best = w
		}
	}
	return unit{' ', best}
}
