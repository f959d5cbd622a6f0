package textedit

import (
	"slices"
	"strings"
)

// against says what the indentation of new_string is written against, where old_string's is not
// that of the file.
type against int

const (
	againstCopy against = iota // old_string: both texts are to be translated alike
	againstFile                // the file: old_string alone was copied badly
	againstNone                // nothing tells, or both
)

// writtenAgainst compares the lines that all three texts have: to[i] is the row of the copy's line
// i. A model that copies old_string without its indentation often writes new_string with it, and
// then a translation would indent twice.
func (d *doc) writtenAgainst(b block, next []string, to []int) against {
	p, ok := alignWhole(linesOf(b.lines), linesOf(next))
	if !ok {
		return againstNone
	}
	file, copied, deepest, shallow, least := 0, 0, 0, -1, 0
	shift, copiedDeep, order := 0, false, ""
	shifts, depths := map[int]bool{}, map[string]bool{}
	edges := [2]bool{}
	first, last := -1, -1
	for k, s := range next {
		if strings.TrimSpace(s) == "" {
			continue
		}
		if first < 0 {
			first = k
		}
		last = k
		if n := len(indentOf(s)); shallow < 0 || n < shallow {
			shallow = n
		}
	}
	neither := map[string]int{}
	top := -1 // how deep the copy begins
	for _, s := range b.lines {
		if top < 0 && strings.TrimSpace(s) != "" {
			top = len(indentOf(s))
		}
	}
	tells := false // lines that say little count where nothing else does
	for i, k := range p.to {
		tells = tells || k >= 0 && to[i] >= 0 && lineOf(b.lines[i]).tells() && indentOf(b.lines[i]) != indentOf(d.row(to[i]))
	}
	for i, k := range p.to {
		j := to[i]
		if j < 0 || k < 0 || strings.TrimSpace(next[k]) == "" || tells && !lineOf(b.lines[i]).tells() {
			continue
		}
		was, is, have := indentOf(b.lines[i]), indentOf(next[k]), indentOf(d.row(j))
		if was == have {
			continue
		}
		depths[was+"|"+have] = true
		shift, copiedDeep = len(have)-len(was), copiedDeep || was != ""
		shifts[len(have)-len(was)] = true
		switch is {
		case have:
			file++
			order += "f"
			if deepest == 0 || len(is) < deepest {
				deepest = len(is)
			}
			edges[0], edges[1] = edges[0] || k == first, edges[1] || k == last
		case was:
			order += "c"
			if copied++; copied == 1 || len(is) < least {
				least = len(is)
			}
		default:
			neither[relation(is, was, have, d.unit().width)]++
		}
	}
	even := len(shifts) == 1
	around := len(order) > 2 && order[0] == 'c' && order[len(order)-1] == 'c'
	switch {
	case file == 0 && copied > 0:
		if neither["file"] > 0 {
			return againstNone
		}
		if first >= 0 && !slices.Contains(p.to, first) && len(indentOf(next[first])) < least && len(indentOf(next[first])) != top {
			return againstNone // lines come around others that do not move: they stand as deep as these in the file, or less
		}
		return againstCopy
	case file == 0 && copied == 0 && len(neither) == 0:
		return d.bySight(b, next, p.to, to)
	case file == 0 && copied == 0:
		if len(neither) == 1 && neither["copy"] > 0 {
			return againstCopy
		}
		return againstNone
	case copied > 0:
		if even && len(neither) == 0 && around {
			return againstCopy // a part goes into a block
		}
		return againstNone
	}
	if neither["copy"]+neither["both"] > 0 {
		return againstNone
	}
	// All lines that both texts have stand as in the file. A block that moves by just as much would
	// look the same.
	if !edges[0] && !edges[1] || shallow < deepest && !edges[0] {
		return againstNone
	}
	if by := abs(shift); even && (by%max(1, d.unit().width) == 0 && (copiedDeep || by == d.unit().width) || d.unit().char == 0) {
		if copiedDeep || len(neither) > 0 || len(depths) < 3 && !(edges[0] && edges[1]) || d.movesAlone(b, next, p.to, to) {
			return againstNone
		}
	}
	return againstFile
}

// relation says from which of two indentations another is some steps away.
func relation(is, was, have string, unit int) string {
	away := func(base string) int {
		if !strings.HasPrefix(is, base) && !strings.HasPrefix(base, is) || abs(len(is)-len(base))%max(1, unit) != 0 {
			return -1
		}
		return abs(len(is) - len(base))
	}
	a, b := away(was), away(have)
	switch {
	case a < 0 && b < 0:
		return "both"
	case b < 0 || a >= 0 && a < b:
		return "copy"
	case a < 0 || b < a:
		return "file"
	}
	return "both"
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// bySight looks at new lines that are like no line of the copy, where the texts have no line in
// common that tells.
func (d *doc) bySight(b block, next []string, toNew, to []int) against {
	copied, file := map[string]bool{}, map[string]bool{}
	same, first := true, noPair
	for i, j := range to {
		if first == noPair && strings.TrimSpace(b.lines[i]) != "" {
			first = indentOf(b.lines[i])
		}
		if j >= 0 && strings.TrimSpace(b.lines[i]) != "" {
			copied[indentOf(b.lines[i])], file[indentOf(d.row(j))] = true, true
			same = same && indentOf(b.lines[i]) == indentOf(d.row(j))
		}
	}
	for k, s := range next {
		in := indentOf(s)
		if same || strings.TrimSpace(s) == "" || slices.Contains(toNew, k) {
			continue
		}
		if in == first || copied[in] && !file[in] {
			return againstCopy
		}
		return againstNone
	}
	return againstCopy
}

// movesAlone reports whether all lines with text are in both texts, so that a block that moves is
// as likely.
func (d *doc) movesAlone(b block, next []string, toNew, to []int) bool {
	for i, k := range toNew {
		if strings.TrimSpace(b.lines[i]) != "" && (k < 0 || to[i] >= 0 && indentOf(b.lines[i]) == indentOf(d.row(to[i]))) {
			return false
		}
	}
	for k, s := range next {
		if strings.TrimSpace(s) != "" && !slices.Contains(toNew, k) {
			return false
		}
	}
	return true
}

// asInFile gives the lines of the copy the indentation that they have in the file.
func (d *doc) asInFile(b block, to []int) block {
	out := block{lines: slices.Clone(b.lines), ended: b.ended}
	for i, j := range to {
		if j >= 0 && strings.TrimSpace(b.lines[i]) != "" {
			out.lines[i] = indentOf(d.row(j)) + strings.TrimLeft(b.lines[i], " \t")
		}
	}
	return out
}

// flattened doubts new lines that opened a block before their indentation was lost: what follows is
// not deeper, in a copy whose own indentation is not that of the file.
func (d *doc) flattened(b block, next []string, to []int) *doubt {
	from, _, _ := pairing{to: to}.bounds()
	same := true
	for i, j := range to {
		same = same && (j < 0 || strings.TrimSpace(b.lines[i]) == "" || indentOf(b.lines[i]) == indentOf(d.row(j)))
	}
	if why := d.collapsed(b, next, to); why != nil {
		return why
	}
	had := map[string]bool{}
	for i := range b.lines {
		had[strings.TrimSpace(b.lines[i])] = true
	}
	above := ""
	for _, s := range next {
		is := strings.TrimSpace(s)
		if is == "" {
			continue
		}
		opens := above != "" && strings.ContainsAny(above[len(above)-1:], "{([:") && !had[strings.TrimSpace(above)]
		if !same && opens && !closes(is) && len(indentOf(s)) <= len(indentOf(above)) {
			return &doubt{row: from, why: "the indentation of old_string is not that of the file, and in new_string what follows " + visible(above) + " is not deeper: its indentation is lost"}
		}
		above = strings.TrimRight(s, " \t")
	}
	return nil
}

// collapsed doubts new lines, or moved ones, of a copy in which lines of different depth stand
// equally deep.
func (d *doc) collapsed(b block, next []string, to []int) *doubt {
	meant := map[string]string{}
	lost := map[string]bool{}
	for i, j := range to {
		if j < 0 || strings.TrimSpace(b.lines[i]) == "" {
			continue
		}
		was, have := indentOf(b.lines[i]), indentOf(d.row(j))
		if other, ok := meant[was]; ok && other != have {
			lost[was] = true
		}
		meant[was] = have
	}
	if len(lost) == 0 {
		return nil
	}
	p, ok := alignWhole(linesOf(b.lines), linesOf(next))
	if !ok {
		return nil
	}
	from, _, _ := pairing{to: to}.bounds()
	for k, s := range next {
		i := slices.Index(p.to, k)
		if strings.TrimSpace(s) == "" || i >= 0 && indentOf(b.lines[i]) == indentOf(s) || !lost[indentOf(s)] {
			continue
		}
		return &doubt{row: from, why: "lines of different indentation have the same in old_string, so that of the new line " + visible(s) + " is not certain"}
	}
	return nil
}
