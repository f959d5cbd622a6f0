package textedit

import "strings"

// region is what lies between two lines that all three have: ranges of the old lines, the file's
// and the new ones.
type region struct{ o0, o1, f0, f1, n0, n1 int }

func (m *merger) region(r region) {
	switch {
	case m.keptByModel(r) || m.sameAdded(r):
		m.copyFile(r)
		return
	}
	written := len(m.out)
	defer func() { m.bordered(r, m.out[written:]) }()
	r, tail := m.agreed(r)
	switch {
	case m.keptByFile(r):
		m.write(r, nil)
	case m.onlyExtras(r):
	case m.contained(r):
	case m.splitAt(r):
	case m.deletedBeside(r):
	case m.fitsOneSide(r):
	default:
		m.conflict(r)
	}
	m.out = append(m.out, tail...)
}

// agreed writes the lines at the ends of a region that both the file and the new text have beside
// the old lines. A line that says little counts only if the new text has it more than once, at both
// ends: any of them may be another one.
func (m *merger) agreed(r region) (rest region, tail []string) {
	paired := map[int]bool{}
	for i := r.o0; i < r.o1; i++ {
		paired[m.toFile[i]] = true
	}
	kept := map[int]bool{}
	for _, k := range m.toNew {
		kept[k] = true
	}
	same := func(j, k int) bool {
		if j < r.f0 || j >= r.f1 || k < r.n0 || k >= r.n1 || paired[j] || kept[k] || m.f[j].key != m.n[k].key {
			return false
		}
		return m.f[j].tells() || r.n1-r.n0 > 1 && m.n[r.n0].key == m.f[j].key && m.n[r.n1-1].key == m.f[j].key
	}
	for same(r.f0, r.n0) {
		m.out = append(m.out, m.file(r.f0))
		r.f0, r.n0 = r.f0+1, r.n0+1
	}
	for same(r.f1-1, r.n1-1) {
		r.f1, r.n1 = r.f1-1, r.n1-1
		tail = append([]string{m.file(r.f1)}, tail...)
	}
	return r, tail
}

func (m *merger) copyFile(r region) {
	for j := r.f0; j < r.f1; j++ {
		m.out = append(m.out, m.file(j))
	}
}

// write takes the new lines; those in as keep the file's spelling.
func (m *merger) write(r region, as map[int]int) {
	for k := r.n0; k < r.n1; k++ {
		if j, ok := as[k]; ok {
			m.out = append(m.out, m.file(j))
			continue
		}
		near := min(r.o0+k-r.n0, r.o1-1)
		m.insert(k, near)
	}
}

// keptByModel: old and new are the same here.
func (m *merger) keptByModel(r region) bool {
	if r.o1-r.o0 != r.n1-r.n0 {
		return false
	}
	for i := r.o0; i < r.o1; i++ {
		if k := m.toNew[i]; k < 0 || strings.TrimSpace(m.old[i]) != strings.TrimSpace(m.next[k]) || !m.a[i].blank() && indentOf(m.old[i]) != indentOf(m.next[k]) {
			return false
		}
	}
	return true
}

// keptByFile: every old line stands in the file, and nothing between them.
func (m *merger) keptByFile(r region) bool {
	for i := r.o0; i < r.o1; i++ {
		if m.toFile[i] < 0 {
			return false
		}
	}
	return r.o1-r.o0 == r.f1-r.f0
}

// sameAdded: the file has beside the old lines just what the model adds. Lines that say little must
// stand as deep.
func (m *merger) sameAdded(r region) bool {
	if r.f1-r.f0 != r.n1-r.n0 {
		return false
	}
	for i := r.o0; i < r.o1; i++ {
		if m.toFile[i] >= 0 || m.toNew[i] >= 0 {
			return false
		}
	}
	for j := range r.f1 - r.f0 {
		f, n := m.f[r.f0+j], m.n[r.n0+j]
		if f.key != n.key {
			return false
		}
		if indent, ok := m.indent.of(indentOf(m.next[r.n0+j]), r.o0-1, false); !f.tells() && !f.blank() && (!ok || indent != indentOf(m.file(r.f0+j))) {
			return false
		}
	}
	return true
}

// onlyExtras: the file lacks some of the old lines, and what the model does to the others is clear.
func (m *merger) onlyExtras(r region) bool {
	skip := map[int]bool{}
	have, gone := 0, 0
	for i := r.o0; i < r.o1; i++ {
		k := m.toNew[i]
		switch {
		case m.toFile[i] >= 0:
			have++
		case k >= 0 && strings.TrimSpace(m.old[i]) == strings.TrimSpace(m.next[k]):
			skip[k] = true
			if !m.a[i].blank() {
				gone++
			}
		case k >= 0:
			return false // it changes a line that is not there
		case !m.a[i].blank():
			gone++
		}
	}
	// Only between two lines that tell where it is: beyond others may be the line that was meant.
	inside := r.o0 > 0 && r.o1 < len(m.a) && m.a[r.o0-1].tells() && m.a[r.o1].tells()
	if have != r.f1-r.f0 || !inside && gone > 0 && have == 0 && len(skip) < r.n1-r.n0 {
		return false
	}
	for k := r.n0; k < r.n1; k++ {
		if !skip[k] {
			m.write(region{o0: r.o0, o1: r.o0, n0: k, n1: k + 1}, nil)
		}
	}
	return true
}

// contained: the new lines hold all that the file has here, in its order, and each of these lines
// tells which it is.
func (m *merger) contained(r region) bool {
	for i := r.o0; i < r.o1; i++ {
		if m.toFile[i] < 0 {
			return false
		}
	}
	as := map[int]int{}
	k := r.n0
	for j := r.f0; j < r.f1; j++ {
		if !m.f[j].tells() {
			return false
		}
		for k < r.n1 && m.n[k].key != m.f[j].key {
			k++
		}
		if k == r.n1 {
			return false
		}
		as[k] = j
		k++
	}
	m.write(r, as)
	return true
}

func (m *merger) conflict(r region) {
	taken := map[int]bool{}
	for _, j := range m.toFile {
		taken[j] = true
	}
	for j := r.f0; j < r.f1; j++ {
		if !taken[j] {
			m.doubtAt(j, "the line is not in old_string, just where new_string changes something: should it stay?")
			return
		}
	}
	m.doubtAt(r.f0, "old_string has lines here that the file has not, just where new_string changes something")
}

// bordered doubts new lines at an end of the block that stand in the file already, just beside it:
// the copy was cut too early. added are the lines written there.
func (m *merger) bordered(r region, added []string) {
	if r.o0 == 0 {
		m.beside(added, m.from-1, -1)
	}
	if r.o1 == len(m.a) {
		m.beside(added, m.from+len(m.f), 1)
	}
}

func (m *merger) beside(added []string, row, step int) {
	if len(added) == 0 || row < 0 || row >= len(m.d.rows) {
		return
	}
	edge := added[0]
	if step > 0 {
		edge = added[len(added)-1]
	}
	twice := strings.TrimSpace(edge) == "" && strings.TrimSpace(m.d.row(row)) == ""
	const near = 3 // lines with text, of which only the first may say little
	at := row
	for seen := 0; seen < near && row >= 0 && row < len(m.d.rows); row += step {
		there := m.d.line(row)
		if there.blank() {
			continue
		}
		for _, s := range added {
			if seen == 0 && s == m.d.row(row) || there.tells() && keyOf(s) == there.key {
				twice, at = true, row
			}
		}
		seen++
	}
	if twice {
		m.doubtAt(at-m.from, "new_string has a line that stands just beside the place but is not in old_string: it would be there twice")
	}
}

// ends doubts a first or last line that is new there and stands just beside the block in the file.
func (m *merger) ends() {
	var was []string
	for j := range m.f {
		was = append(was, m.file(j))
	}
	for _, step := range []int{-1, 1} {
		row := m.from - 1
		if step > 0 {
			row = m.from + len(m.f)
		}
		for row >= 0 && row < len(m.d.rows) && strings.TrimSpace(m.d.row(row)) == "" {
			row += step
		}
		is, had := outermost(m.out, step), outermost(was, step)
		if row >= 0 && row < len(m.d.rows) && is != "" && is == m.d.row(row) && (had != is || m.more(is)) {
			m.doubtAt(row-m.from, "new_string has a line that stands just beside the place but is not in old_string: it would be there twice")
		}
	}
}

// outermost is the first line with text, or the last one where step is 1.
func outermost(list []string, step int) string {
	found := ""
	for _, s := range list {
		if strings.TrimSpace(s) != "" && (step > 0 || found == "") {
			found = s
		}
	}
	return found
}

// more reports whether the new text has a line more often than the old one: of lines that repeat,
// the copy may lack one.
func (m *merger) more(text string) bool {
	key, n := keyOf(text), 0
	for _, l := range m.n {
		if l.key == key {
			n++
		}
	}
	for _, l := range m.a {
		if l.key == key {
			n--
		}
	}
	return n > 0
}
