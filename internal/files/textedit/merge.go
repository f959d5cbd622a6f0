package textedit

import (
	"fmt"
	"slices"
	"strings"
)

// pairedNew is the likeness from which a new line counts as a changed version of an old one.
const pairedNew = 0.6

// doubt is why an edit is not certain, and the row of the file where.
type doubt struct {
	row int
	why string
}

// merger applies what a model changed, old to new, to lines of the file that its copy stands for.
// It merges three ways, as version control does: what the model left alone stays as the file has
// it, also lines that its copy lacks or spells wrong; what the file and the model change in the
// same place is a doubt, unless they agree.
type merger struct {
	d         *doc
	old, next []string
	a, n, f   []line // the old lines, the new ones, those of the file
	from      int    // row of f[0]
	toFile    []int
	toNew     []int
	moved     map[int]int // new line to the old line that went there
	indent    indents
	out       []string
	doubt     *doubt
	stray     *doubt // of a line whose indentation does not fit
	joined    *doubt // of a line that is two in the file
}

// newMerger lays the copy b beside the rows that to pairs with its lines.
func newMerger(d *doc, b block, next []string, to []int) *merger {
	m := &merger{d: d, old: b.lines, next: next, a: linesOf(b.lines), n: linesOf(next)}
	from, end, _ := pairing{to: to}.bounds()
	m.from = from
	for i := from; i < end; i++ {
		m.f = append(m.f, lineOf(d.row(i)))
	}
	m.toFile = make([]int, len(to))
	for i, j := range to {
		m.toFile[i] = j
		if j >= 0 {
			m.toFile[i] -= from
		}
	}
	m.indent = d.indents(m)
	for i, l := range m.a {
		if j := m.toFile[i]; l.blank() || j >= 0 && m.f[j].key == l.key {
			continue
		}
		for k := range len(m.f) - 1 {
			if !m.f[k].blank() && !m.f[k+1].blank() && strings.ReplaceAll(l.key, " ", "") == strings.ReplaceAll(m.f[k].key+m.f[k+1].key, " ", "") {
				m.joined = &doubt{row: m.from + k, why: "old_string has two lines of the file as one"}
			}
		}
	}
	m.elsewhere()
	if i := m.indent.stray(func(i int) bool { return d.count(m.a[i].key) > 1 }); i >= 0 {
		m.stray = m.doubtAt(m.toFile[i], "the line says little and has another indentation in old_string than the lines around it: another one may be meant")
	}
	return m
}

// file is a line of the file as it stands there.
func (m *merger) file(j int) string { return m.d.row(m.from + j) }

func (m *merger) doubtAt(j int, format string, args ...any) *doubt {
	if m.doubt == nil {
		m.doubt = &doubt{row: max(0, min(m.from+j, len(m.d.rows)-1)), why: fmt.Sprintf(format, args...)}
	}
	return m.doubt
}

// lines are the rows with the edit applied.
func (m *merger) lines() ([]string, *doubt) {
	if m.joined != nil {
		return nil, m.joined
	}
	p, ok := alignWhole(m.a, m.n)
	if !ok {
		m.doubtAt(0, "the block is too long to be compared")
		return nil, m.doubt
	}
	m.toNew = p.to
	m.unpair()
	m.pairRenamed()
	out, why := m.merge(m.toFile, m.toNew)
	if why != nil {
		return nil, why
	}
	base, new := m.toFile, m.toNew
	for _, cut := range m.edges(base) {
		if other, why := m.merge(cut, new); why != nil || !slices.Equal(other, out) {
			return nil, m.doubtAt(firstGap(base), "old_string lacks lines here, and whether the line at its end is the one that was meant is not certain")
		}
	}
	for _, toFile := range slides(m.a, m.f, base, func(a, b line) bool { return a.key == b.key }) {
		for _, toNew := range slides(m.a, m.n, new, func(a, b line) bool { return a.text == b.text }) {
			if other, why := m.merge(toFile, toNew); why != nil || !slices.Equal(other, out) {
				m.doubtAt(firstGap(toFile), "lines repeat here, and which of them is not in old_string, just where new_string changes something, is not certain")
				return nil, m.doubt
			}
		}
	}
	return out, nil
}

// merge is lines for one way to pair them.
func (m *merger) merge(toFile, toNew []int) ([]string, *doubt) {
	m.toFile, m.toNew, m.out, m.doubt = toFile, toNew, nil, m.stray
	m.findMoved()
	o, f, n := 0, 0, 0
	for i := 0; i <= len(m.a); i++ {
		if i < len(m.a) && (m.toFile[i] < 0 || m.toNew[i] < 0) {
			continue
		}
		r := region{o, i, f, len(m.f), n, len(m.n)}
		if i < len(m.a) {
			r.f1, r.n1 = m.toFile[i], m.toNew[i]
		}
		m.region(r)
		if i < len(m.a) {
			m.pair(i)
			o, f, n = i+1, r.f1+1, r.n1+1
		}
	}
	m.ends()
	return m.out, m.doubt
}

// pair writes a line that is in all three.
func (m *merger) pair(i int) {
	j, k := m.toFile[i], m.toNew[i]
	was, is, have := m.old[i], m.next[k], m.file(j)
	text := strings.TrimLeft(have, " \t")
	if o, n := m.d.inForm(strings.TrimSpace(was)), m.d.inForm(strings.TrimSpace(is)); o != n {
		text = m.d.inForm(strings.TrimLeft(is, " \t"))
		if f := strings.TrimSpace(have); f != o {
			merged, ok := mergeWords(o, f, n)
			if !ok {
				m.doubtAt(j, "the line is not as old_string has it, just where new_string changes it")
			}
			text = merged + ending(is)
		}
		if ending(was) == ending(is) {
			text = strings.TrimRight(text, " \t") + ending(have)
		}
	}
	if indentOf(was) == indentOf(is) || m.a[i].blank() {
		if text != "" {
			text = indentOf(have) + text
		} else if m.n[k].blank() {
			text = have
		}
		m.out = append(m.out, text)
		return
	}
	m.out = append(m.out, m.indented(is, i, true, text))
}

// ending is the white space at the end of a line.
func ending(s string) string { return s[len(strings.TrimRight(s, " \t")):] }

// indented gives text the indentation that the new line's has in the file; near is the old line
// beside it, own when the new one replaces it.
func (m *merger) indented(is string, near int, own bool, text string) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	indent, ok := m.indent.of(indentOf(is), near, own)
	if !ok {
		j := 0
		for i := min(near, len(m.toFile)-1); i >= 0 && j == 0; i-- {
			j = max(j, m.toFile[i])
		}
		m.doubtAt(j, "the indentation of old_string is not that of the file, and what the file's is for %q is not certain", visible(is))
	}
	return indent + text
}

// insert writes a new line that stands for no line of the file.
func (m *merger) insert(k, near int) {
	text := m.d.inForm(strings.TrimLeft(m.next[k], " \t"))
	if i, ok := m.moved[k]; ok {
		text = strings.TrimLeft(m.file(m.toFile[i]), " \t")
	}
	added := m.indented(m.next[k], near, false, text)
	for j, l := range m.f {
		if !l.blank() && m.file(j) == added && !slices.Contains(m.toFile, j) {
			m.doubtAt(j, "the line is not in old_string, but new_string has it in another place: should it be there twice?")
		}
	}
	m.out = append(m.out, added)
}

// unpair parts an old line from a new one that is more like a line of the file that the copy lacks,
// or is another old line that moved.
func (m *merger) unpair() {
	taken := map[int]bool{}
	for _, j := range m.toFile {
		taken[j] = true
	}
	for i, k := range m.toNew {
		if k < 0 || m.old[i] == m.next[k] {
			continue
		}
		for other, l := range m.a {
			if other != i && m.toNew[other] < 0 && l.tells() && l.key == m.n[k].key {
				m.toNew[i] = -1
			}
		}
		like := likeness(m.a[i].key, m.n[k].key, pairedNew)
		for j := range m.f {
			if taken[j] || m.a[i].blank() {
				continue
			}
			if other := likeness(m.f[j].key, m.n[k].key, pairedNew); other > like || other == 1 {
				m.toNew[i] = -1
			}
		}
	}
}

// findMoved pairs the new lines that are nowhere else with an old line that is gone and was the
// same.
func (m *merger) findMoved() {
	m.moved = map[int]int{}
	gone := map[string][]int{}
	for i, k := range m.toNew {
		if k < 0 && m.toFile[i] >= 0 && m.a[i].tells() {
			text := strings.TrimSpace(m.old[i])
			gone[text] = append(gone[text], i)
		}
	}
	taken, invented := map[int]bool{}, map[string]bool{}
	for i, k := range m.toNew {
		taken[k] = true
		if k < 0 && m.toFile[i] < 0 {
			invented[m.a[i].key] = true
		}
	}
	for k, line := range m.next {
		if taken[k] {
			continue
		}
		if from := gone[strings.TrimSpace(line)]; len(from) == 1 {
			m.moved[k] = from[0]
		}
		if invented[m.n[k].key] {
			m.doubtAt(0, "new_string moves a line of old_string that is not in the file")
		}
	}
}
