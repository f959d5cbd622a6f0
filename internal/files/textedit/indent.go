package textedit

import (
	"slices"
	"strings"
)

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// indents maps the copy's indentation to the file's: shifted by a number of characters, or level by
// level if the copy uses another unit.
type indents struct {
	matchesFile bool              // the new text has the file's indentation
	table       map[string]string // copy to file
	known       map[string]bool   // in the rows
	file        unit
	mixed       bool // one indentation in the copy maps to several in the file
	// The copy's least depth and its row's; dx more characters in the copy are dy more in the file.
	// If dx is 0, the table has the only depth.
	x0, y0, dx, dy int
}

// unit is one indentation step.
type unit struct {
	char  byte // ' ' or '\t'; 0 if there is no indentation
	width int
}

// indents compares the copy's indentation with its rows'. why is the reason for a doubt.
func (m merge) indents() (in indents, why string) {
	in = indents{table: map[string]string{}, known: map[string]bool{}, matchesFile: true, file: m.unit()}
	bare := true
	for i := range m.rows {
		in.known[indentOf(m.row(i))] = true
	}
	for i, s := range m.old {
		if blank(s) {
			continue
		}
		is, was := indentOf(m.row(m.rowOf[i])), indentOf(s)
		if had, ok := in.table[was]; ok && had != is {
			in.mixed = true
		}
		in.table[was] = is
		bare, in.matchesFile = bare && was == "", in.matchesFile && is == was
	}
	fits := in.fit(least(m.old, m.next))
	byCopy, byFile := m.votes()
	if in.matchesFile || blank(strings.Join(m.next, "")) || byFile && !byCopy {
		in.matchesFile = true
		return in, ""
	}
	switch {
	case !bare && (in.mixed || !fits):
		return in, "the indentation of old_string differs from that of the file by more than one step"
	case byFile || !byCopy:
		return in, "old_string is not indented as the file is, and how deep new_string is meant to stand is not certain"
	case m.flat():
		return in, "old_string and new_string have lost the indentation of their lines"
	}
	return in, ""
}

// votes reports whether the first line and the kept ones, or otherwise the replaced ones, are as
// deep as in the copy, and whether some are as deep as in the file.
func (m merge) votes() (byCopy, byFile bool) {
	vote := func(i int, s string) {
		if i < 0 || blank(s) || m.rowOf[i] < 0 {
			return
		}
		if is, was, next := indentOf(m.row(m.rowOf[i])), indentOf(m.old[i]), indentOf(s); is != was {
			byCopy, byFile = byCopy || next == was, byFile || next == is
		}
	}
	text := func(s string) bool { return !blank(s) }
	if first := slices.IndexFunc(m.next, text); first >= 0 {
		vote(slices.IndexFunc(m.old, text), m.next[first])
	}
	for k, i := range m.equalOld {
		vote(i, m.next[k])
	}
	for k, i := range m.near {
		if !byCopy && !byFile {
			vote(i, m.next[k])
		}
	}
	return byCopy, byFile
}

// flat reports whether neither text has indentation and the new one opens a block, so that the
// depth below is lost.
func (m merge) flat() bool {
	for _, s := range append(m.old[:len(m.old):len(m.old)], m.next...) {
		if indentOf(s) != "" && !blank(s) {
			return false
		}
	}
	for k, s := range m.next {
		s = strings.TrimSpace(s)
		if k+1 < len(m.next) && m.equalOld[k] < 0 && s != "" && strings.ContainsAny(s[len(s)-1:], ":{([=>") {
			return true
		}
	}
	return false
}

// of returns the file's indentation for one in the new text.
func (in indents) of(indent string) (string, bool) {
	if in.matchesFile {
		return indent, in.known[indent] || in.file.char == 0 || strings.Trim(indent, string(in.file.char)) == "" && len(indent)%in.file.width == 0
	}
	if in.mixed {
		return "", false
	}
	if is, ok := in.table[indent]; ok {
		return is, true
	}
	n, ok := in.width(indent)
	out := strings.Repeat(string(in.file.char), max(0, n))
	return out, ok && n >= 0 && (n%in.file.width == 0 || in.known[out])
}

// width returns the file's indentation in characters.
func (in indents) width(indent string) (int, bool) {
	more := len(indent) - in.x0
	if in.dx == 0 || in.file.char == 0 || mixedIndent(indent) || more*in.dy%in.dx != 0 {
		return 0, false
	}
	return in.y0 + more*in.dy/in.dx, true
}

// fit finds a common shift for all lines, or a scale from the copy's unit to the file's.
func (in *indents) fit(step int) bool {
	same, first := true, true
	for was, is := range in.table {
		same = same && strings.Trim(was+is, string(in.file.char)) == ""
		if first || len(was) < in.x0 {
			in.x0, in.y0, first = len(was), len(is), false
		}
	}
	unit, one := in.file.width, len(in.table) == 1
	scaled := !same || in.x0*unit == in.y0*step
	return same && (!one || step == unit || step == 0) && in.fits(1, 1) || scaled && in.fits(step, unit) || one && !same
}

func (in *indents) fits(dx, dy int) bool {
	in.dx, in.dy = dx, dy
	for was, is := range in.table {
		n, ok := in.width(was)
		if !ok || n < 0 || is != strings.Repeat(string(in.file.char), n) {
			return false
		}
	}
	return true
}

func mixedIndent(s string) bool { return strings.Contains(s, " ") && strings.Contains(s, "\t") }

// least returns the smallest step between two depths.
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

// unit returns the file's unit: the most frequent increase between neighboring lines.
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
