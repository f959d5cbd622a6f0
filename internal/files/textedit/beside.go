package textedit

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is certain beside a line that the copy lacks: one word of a line changed, lines taken away,
// and lines added where their indentation leaves one side alone.

// pairRenamed pairs lines that differ in one word, however long it is, where as many are gone as
// came.
func (m *merger) pairRenamed() {
	for _, c := range changesOf(m.toNew, len(m.n)) {
		if c.o1-c.o0 != c.s1-c.s0 {
			continue
		}
		for i := range c.o1 - c.o0 {
			if o, n := m.old[c.o0+i], m.next[c.s0+i]; indentOf(o) == indentOf(n) && oneWordApart(m.a[c.o0+i].key, m.n[c.s0+i].key) && !m.lacked(m.n[c.s0+i].key) {
				m.toNew[c.o0+i] = c.s0 + i
			}
		}
	}
}

// lacked reports whether the place has this line, or one like it, without one in the copy.
func (m *merger) lacked(key string) bool {
	for j, l := range m.f {
		if !slices.Contains(m.toFile, j) && (l.key == key || likeness(l.key, key, alikeLine) > 0) {
			return true
		}
	}
	return false
}

// oneWordApart reports whether two lines differ in one word only, and have more than that word.
func oneWordApart(a, b string) bool {
	x, y := words(a), words(b)
	if len(x) != len(y) || len(x) < 3 || a == b {
		return false
	}
	differ, same := -1, 0
	for i := range x {
		switch {
		case x[i] != y[i] && differ >= 0:
			return false
		case x[i] != y[i]:
			differ = i
		case strings.TrimSpace(x[i]) != "":
			same++
		}
	}
	return same > 0 && isWord(x[differ]) && isWord(y[differ])
}

// rearranged reports whether a line that is gone came in another place.
func (m *merger) rearranged() bool {
	gone := map[string]bool{}
	for i, k := range m.toNew {
		if k < 0 && !m.a[i].blank() {
			gone[m.a[i].key] = true
		}
	}
	for k, l := range m.n {
		if gone[l.key] && !slices.Contains(m.toNew, k) {
			return true
		}
	}
	return false
}

// splitAt parts a region at a line that old_string alone lacks: the file and the new lines have it.
func (m *merger) splitAt(r region) bool {
	before := r.o0 // old lines before the file's j
	at := -1
	var parts [2]region
	for j := r.f0; j < r.f1; j++ {
		if before < r.o1 && m.toFile[before] == j {
			before++
			continue
		}
		if k, ok := m.stands(j, r); ok && at < 0 {
			at = j
			parts[0] = region{r.o0, before, r.f0, j, r.n0, k}
			parts[1] = region{before, r.o1, j + 1, r.f1, k + 1, r.n1}
		}
	}
	if at < 0 || before < r.o1 || m.rearranged() {
		return false
	}
	m.region(parts[0])
	m.out = append(m.out, m.file(at))
	m.region(parts[1])
	return true
}

// stands is the one new line of the region that equals the file's line j and tells that it does.
func (m *merger) stands(j int, r region) (at int, ok bool) {
	if !m.f[j].tells() || m.d.count(m.f[j].key) > 1 {
		return 0, false
	}
	for k := r.n0; k < r.n1; k++ {
		if m.n[k].key == m.f[j].key {
			if ok {
				return 0, false
			}
			at, ok = k, true
		}
	}
	return at, ok
}

// deletedBeside takes the old lines away that the model took away, all from one stretch of the
// file: those before and behind it stay. A line within the stretch may have been meant to go with
// them.
func (m *merger) deletedBeside(r region) bool {
	if r.n0 < r.n1 || r.o0 == r.o1 || m.rearranged() {
		return false
	}
	for _, i := range []int{r.o0 - 1, r.o1} { // a changed line could as well be the one that is gone
		if i >= 0 && i < len(m.a) && m.toNew[i] >= 0 && m.a[i].key != m.n[m.toNew[i]].key {
			return false
		}
	}
	first, last := m.toFile[r.o0], m.toFile[r.o1-1]
	if first < 0 || last-first != r.o1-1-r.o0 {
		return false
	}
	for i := r.o0; i < r.o1; i++ {
		if m.toFile[i] != first+i-r.o0 {
			return false
		}
	}
	m.copyFile(region{f0: r.f0, f1: first})
	m.copyFile(region{f0: last + 1, f1: r.f1})
	return true
}

// fitsOneSide writes added lines before or behind lines that the copy lacks, if their indentation
// fits in one place alone.
func (m *merger) fitsOneSide(r region) bool {
	if r.o0 < r.o1 || r.n0 == r.n1 || r.o0 == 0 || r.o1 == len(m.a) || m.rearranged() || m.blankBorder(r) {
		return false
	}
	for k := r.n0; k < r.n1; k++ {
		if m.lacked(m.n[k].key) {
			return false
		}
	}
	for k := r.n0; k < r.n1; k++ {
		for j := r.f0; j < r.f1; j++ {
			if key := m.f[j].key; closes(m.n[k].key) && key != "" && strings.ContainsAny(key[len(key)-1:], "{([:>") {
				return false // what it closes may be what the copy lacks
			}
		}
	}
	written := len(m.out)
	m.write(r, nil)
	added := slices.Clone(m.out[written:])
	m.out = m.out[:written]
	if above := m.file(r.f0 - 1); depthOf(m.file(r.f0)) > depthOf(above) && depthOf(added[0]) <= depthOf(above) {
		return false // behind a line that opens a block, and not in it
	}
	at := -1
	for j := r.f0; j <= r.f1; j++ {
		if !m.mayStand(added, j) {
			continue
		}
		if at >= 0 {
			return false
		}
		at = j
	}
	if at < 0 {
		return false
	}
	m.copyFile(region{f0: r.f0, f1: at})
	m.out = append(m.out, added...)
	m.copyFile(region{f0: at, f1: r.f1})
	return true
}

// blankBorder reports whether an added line at an end is blank, or stands beside one: indentation
// tells nothing there.
func (m *merger) blankBorder(r region) bool {
	return m.n[r.n0].blank() || m.n[r.n1-1].blank() || m.a[r.o0-1].blank() || m.a[r.o0].blank()
}

// mayStand reports whether lines may come before line j of the place: nothing is deeper than the
// line above it unless that line opens a block, no block is left empty or gets another head, and
// what ends a block stands behind lines that are inside it.
func (m *merger) mayStand(added []string, j int) bool {
	up, down := j-1, j
	for up > 0 && m.f[up].blank() {
		up--
	}
	for down < len(m.f)-1 && m.f[down].blank() {
		down++
	}
	first, last := depthOf(added[0]), depthOf(added[len(added)-1])
	above, below := depthOf(m.file(up)), depthOf(m.file(down))
	switch opens := below > above; {
	case !opens && first > above, opens && first <= above, below > last:
		return false
	}
	ends := closes(m.f[down].key) && above > below
	return !ends || last > below || strings.HasPrefix(strings.TrimSpace(added[0]), "#") || strings.HasSuffix(keyOf(added[0]), ":")
}

func depthOf(s string) int { return len(indentOf(s)) }

// closes reports whether a line ends a block.
func closes(key string) bool {
	if key != "" && strings.ContainsRune("})]", rune(key[0])) || strings.HasPrefix(key, "</") {
		return true
	}
	word, _, _ := strings.Cut(strings.TrimRight(key, ";,)"), " ")
	return slices.Contains([]string{"end", "fi", "done", "esac"}, word)
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
