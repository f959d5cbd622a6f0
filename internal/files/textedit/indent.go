package textedit

import "strings"

// pair says that the model wrote one indentation where the file has another.
type pair struct{ model, file string }

// unit is one step of indentation.
type unit struct {
	char  byte // ' ' or '\t'; if 0, there is no indentation
	width int
}

// indents translates indentation of the model's copy to the file's. Where the copy has an
// indentation the file's own stands for it; any other is moved by the same shift, or, where the
// copy counts in another unit, level by level. What comes out is an indentation that the file's
// unit knows, or nothing.
type indents struct {
	pairs []pair // by old line; blank and unpaired lines have model "-"
	file  unit
	model int // width of the copy's unit in its own characters
	known map[string]bool
}

const noPair = "-"

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

func (d *doc) indents(m *merger) indents {
	in := indents{file: d.unit(), known: d.indentsKnown()}
	in.pairs = make([]pair, len(m.old))
	for i, s := range m.old {
		in.pairs[i] = pair{model: noPair}
		if j := m.toFile[i]; j >= 0 && !m.a[i].blank() {
			in.pairs[i] = pair{indentOf(s), indentOf(m.file(j))}
		}
	}
	in.model = modelUnit(m.old, m.next)
	return in
}

// stray is a line that the file has often, such as a }, whose indentation does not fit that of the
// other lines; -1 if there is none. The indentation is all that tells such lines apart.
func (in indents) stray(often func(i int) bool) int {
	var list []pair
	flat, first, literal := true, noPair, true
	depths := map[string]bool{}
	for i, p := range in.pairs {
		if p.model == noPair {
			continue
		}
		if !often(i) {
			list = append(list, p)
			literal = literal && p.model == p.file
			depths[p.model] = true
		}
		flat = flat && (first == noPair || p.model == first)
		first = p.model
	}
	if i := in.bent(often); i >= 0 && !literal {
		return i
	}
	if flat || !literal && len(depths) < 2 { // the copy has no indentation that could tell
		return -1
	}
	told := in
	told.pairs = list
	for i, p := range in.pairs {
		if p.model == noPair || len(list) == 0 || !often(i) {
			continue
		}
		if want, ok := told.of(p.model, len(list), false); ok && want != p.file {
			return i
		}
	}
	return -1
}

// bent is a line that the file has often, with neighbours of other depths in the copy, where a step
// is not as wide in the file as the step before it; -1 if there is none.
func (in indents) bent(often func(i int) bool) int {
	var last []pair // of different depth, the newest three
	for i, p := range in.pairs {
		if p.model == noPair || len(last) > 0 && len(p.model) == len(last[len(last)-1].model) {
			continue
		}
		if last = append(last, p); len(last) > 3 {
			last = last[1:]
		}
		if len(last) < 3 || !often(i) {
			continue
		}
		a, b := len(last[1].model)-len(last[0].model), len(last[2].model)-len(last[1].model)
		x, y := len(last[1].file)-len(last[0].file), len(last[2].file)-len(last[1].file)
		if a*y != b*x {
			return i
		}
	}
	return -1
}

// of is the file's indentation for one of the model's; near is the old line beside it, own when it
// is the line that the new one replaces.
func (in indents) of(indent string, near int, own bool) (string, bool) {
	up, down := in.nearest(indent, near, -1), in.nearest(indent, near+1, 1)
	switch {
	case up >= 0 && (own && up == near || in.agreed(indent)):
		return in.pairs[up].file, true
	case down >= 0 && in.agreed(indent):
		return in.pairs[down].file, true
	case up >= 0 && down >= 0:
		return in.pairs[up].file, in.pairs[up].file == in.pairs[down].file
	case up >= 0 || down >= 0:
		return "", false
	}
	return in.extrapolate(indent)
}

// nearest is the pair with this indentation of the model's, going up or down; -1 when there is
// none.
func (in indents) nearest(indent string, from, step int) int {
	for i := from; i >= 0 && i < len(in.pairs); i += step {
		if in.pairs[i].model == indent {
			return i
		}
	}
	return -1
}

// agreed reports whether this indentation always stands for the same.
func (in indents) agreed(indent string) bool {
	first := -1
	for i, p := range in.pairs {
		if p.model != indent {
			continue
		}
		if first >= 0 && in.pairs[first].file != p.file {
			return false
		}
		first = i
	}
	return true
}

// extrapolate finds the file's indentation for one that the copy has nowhere.
func (in indents) extrapolate(indent string) (string, bool) {
	var list []pair
	literal := true
	seen := map[pair]bool{}
	for _, p := range in.pairs {
		if p.model != noPair && !seen[p] {
			seen[p] = true
			list = append(list, p)
			literal = literal && p.model == p.file
		}
	}
	if len(list) == 0 || literal && (in.file.char == 0 || strings.Trim(indent, string(in.file.char)) == "" || in.known[indent]) {
		return indent, true
	}
	if in.file.char == 0 {
		return "", false
	}
	char := string(in.file.char)
	for _, p := range list {
		if strings.Trim(p.file, char) != "" {
			return in.prefixed(indent, list)
		}
	}
	mixed := func(s string) bool { return strings.Contains(s, " ") && strings.Contains(s, "\t") }
	for _, p := range append(list, pair{model: indent}) {
		if mixed(p.model) {
			return in.prefixed(indent, list)
		}
	}
	n, ok := in.measure(indent, list)
	if !ok {
		return in.prefixed(indent, list)
	}
	out := strings.Repeat(char, n)
	return out, n%in.file.width == 0 || in.known[out]
}

// measure gives the number of indentation characters. All are of one kind on each side.
func (in indents) measure(indent string, list []pair) (int, bool) {
	char := string(in.file.char)
	m0, f0 := len(list[0].model), len(list[0].file)
	shift, same := true, strings.Trim(indent, char) == ""
	dm, df := 0, 0 // how far two lines of different depth are apart
	for _, p := range list {
		shift = shift && len(p.file)-len(p.model) == f0-m0
		same = same && strings.Trim(p.model, char) == ""
		if len(p.model) != m0 && dm == 0 {
			dm, df = len(p.model)-m0, len(p.file)-f0
		}
	}
	more := len(indent) - m0
	if same && shift && (dm != 0 || in.model == in.file.width) {
		return f0 + more, f0+more >= 0
	}
	if dm == 0 { // one depth alone: levels are counted in the units of both sides
		dm, df = in.model, in.file.width
		if same && in.model > in.file.width && m0*in.file.width != f0*in.model {
			return 0, false // a shift of several levels or one of another unit
		}
	}
	if dm == 0 || more*df%dm != 0 {
		return 0, false
	}
	for _, p := range list {
		if (len(p.model)-m0)*df != (len(p.file)-f0)*dm {
			return 0, false
		}
	}
	n := f0 + more*df/dm
	return n, n >= 0
}

// prefixed handles what is not one kind of character: what all lines have before their own
// indentation, or lack.
func (in indents) prefixed(indent string, list []pair) (string, bool) {
	more, moreOK := strings.CutSuffix(list[0].file, list[0].model)
	less, lessOK := strings.CutSuffix(list[0].model, list[0].file)
	for _, p := range list {
		moreOK = moreOK && p.file == more+p.model
		lessOK = lessOK && p.model == less+p.file
	}
	out, ok := more+indent, moreOK
	if !moreOK && lessOK {
		out, ok = strings.CutPrefix(indent, less)
	}
	return out, ok && in.known[out]
}

// modelUnit is the smallest step between two depths of the model's texts.
func modelUnit(texts ...[]string) int {
	depths := map[int]bool{}
	for _, list := range texts {
		for _, s := range list {
			if strings.TrimSpace(s) != "" {
				depths[len(indentOf(s))] = true
			}
		}
	}
	least := 0
	for a := range depths {
		for b := range depths {
			if a > b && (least == 0 || a-b < least) {
				least = a - b
			}
		}
	}
	return least
}

// unit is the file's, judged by what most lines are deeper than the one above.
func (d *doc) unit() unit {
	tabs, spaces := 0, 0
	var steps [9]int
	before := 0
	for i := range d.lines() {
		s := d.row(i)
		if strings.TrimSpace(s) == "" {
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
	if tabs == 0 && spaces == 0 {
		return unit{}
	}
	if tabs > spaces {
		return unit{'\t', 1}
	}
	best := 0
	for w := range steps {
		if steps[w] > steps[best] {
			best = w
		}
	}
	if best == 0 {
		best = 1
	}
	return unit{' ', best}
}

func (d *doc) indentsKnown() map[string]bool {
	if d.known == nil {
		d.known = map[string]bool{}
		for i := range d.lines() {
			d.known[indentOf(d.row(i))] = true
		}
	}
	return d.known
}
