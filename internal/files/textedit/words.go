package textedit

import (
	"slices"
	"strings"
	"unicode"

	"adze/internal/files/diff"
)

// mergeWords applies the change from old to next to a line that is not quite old: word by word, and
// letter by letter in a word that both change. ok is false where they change the same letters in
// different ways.
func mergeWords(old, file, next string) (string, bool) {
	if keyOf(file) == keyOf(next) {
		return file, true
	}
	o, f, n := words(old), words(file), words(next)
	if plain := oneSpaced(o); slices.Equal(plain, oneSpaced(f)) { // the file has other white space
		var out strings.Builder
		from := 0
		for _, c := range diff.Compare(plain, oneSpaced(n)) {
			out.WriteString(strings.Join(f[from:c.Old0], "") + strings.Join(n[c.New0:c.New1], ""))
			from = c.Old1
		}
		return out.String() + strings.Join(f[from:], ""), true
	}
	return merge3(o, f, n, func(o, f, n string) (string, bool) {
		if likeness(o, n, 0.5) == 0 {
			return n, true // the model writes something else there, whatever stood there
		}
		return merge3(strings.Split(o, ""), strings.Split(f, ""), strings.Split(n, ""), nil)
	})
}

// oneSpaced has each stretch of white space as one space.
func oneSpaced(parts []string) []string {
	out := slices.Clone(parts)
	for i, s := range out {
		if strings.TrimSpace(s) == "" {
			out[i] = " "
		}
	}
	return out
}

// words splits a line into words, stretches of white space and single other characters.
func words(s string) (out []string) {
	kind := func(r rune) int {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	last := 0
	for _, r := range s {
		k := kind(r)
		if k != 0 && k == last {
			out[len(out)-1] += string(r)
		} else {
			out = append(out, string(r))
		}
		last = k
	}
	return out
}

// merge3 merges two changes of the same parts. Where they overlap, clash decides; without it they
// must agree.
func merge3(old, file, next []string, clash func(o, f, n string) (string, bool)) (string, bool) {
	fc, nc := leftmost(old, file), leftmost(old, next)
	var out strings.Builder
	o, f, n := 0, 0, 0 // written so far
	clean := true
	for len(fc) > 0 || len(nc) > 0 {
		group := firstGroup(&fc, &nc)
		same := group.Old0 - o
		out.WriteString(strings.Join(old[o:group.Old0], ""))
		f, n = f+same, n+same
		o1, f1, n1 := group.Old1, f+group.Old1-group.Old0+group.moreF, n+group.Old1-group.Old0+group.moreN
		was, have, want := strings.Join(old[group.Old0:o1], ""), strings.Join(file[f:f1], ""), strings.Join(next[n:n1], "")
		switch {
		case have == want || want == was:
			out.WriteString(have)
		case have == was:
			out.WriteString(want)
		case clash != nil:
			text, ok := clash(was, have, want)
			out.WriteString(text)
			clean = clean && ok
		default:
			out.WriteString(want)
			clean = false
		}
		o, f, n = o1, f1, n1
	}
	out.WriteString(strings.Join(old[o:], ""))
	return out.String(), clean
}

// group is a stretch of old parts that changes of either side cover, and how many parts each has
// there more.
type group struct {
	Old0, Old1   int
	moreF, moreN int
}

// single takes a change of several parts into as many for one change each.
func single(old, other []string, list []diff.Change) (out []diff.Change) {
	for _, c := range list {
		if c.Old1-c.Old0 != c.New1-c.New0 {
			out = append(out, c)
			continue
		}
		for i := range c.Old1 - c.Old0 {
			if old[c.Old0+i] != other[c.New0+i] {
				out = append(out, diff.Change{Old0: c.Old0 + i, Old1: c.Old0 + i + 1, New0: c.New0 + i, New1: c.New0 + i + 1})
			}
		}
	}
	return out
}

// leftmost lists changes, with what is only removed or only added moved as far to the front as it
// can be, so that both sides remove or double the same one of two equal letters.
func leftmost(old, other []string) []diff.Change {
	list := single(old, other, diff.Compare(old, other))
	end := 0
	for i := range list {
		c := &list[i]
		for c.Old0 > end && c.New0 > 0 &&
			(c.New0 == c.New1 && old[c.Old0-1] == old[c.Old1-1] || c.Old0 == c.Old1 && old[c.Old0-1] == other[c.New1-1]) {
			c.Old0, c.Old1, c.New0, c.New1 = c.Old0-1, c.Old1-1, c.New0-1, c.New1-1
		}
		end = c.Old1
	}
	return list
}

// firstGroup takes the first change off the lists, with those that overlap it. Two additions in one
// place overlap; an addition at the border of what the other side replaces does not.
func firstGroup(fc, nc *[]diff.Change) group {
	g := group{Old0: 1 << 30}
	added := false
	for _, list := range []*[]diff.Change{fc, nc} {
		if len(*list) > 0 {
			c := (*list)[0]
			if c.Old0 < g.Old0 {
				g.Old0, added = c.Old0, false
			}
			added = added || c.Old0 == g.Old0 && c.Old1 == c.Old0
		}
	}
	g.Old1 = g.Old0
	for grown, first := true, true; grown; first = false {
		grown = false
		for _, side := range []struct {
			list *[]diff.Change
			more *int
		}{{fc, &g.moreF}, {nc, &g.moreN}} {
			for len(*side.list) > 0 {
				c := (*side.list)[0]
				begins := first && c.Old0 == g.Old0 && (!added || c.Old1 == c.Old0)
				if !begins && c.Old0 >= g.Old1 {
					break
				}
				*side.more += c.New1 - c.New0 - (c.Old1 - c.Old0)
				g.Old1 = max(g.Old1, c.Old1)
				*side.list = (*side.list)[1:]
				grown = true
			}
		}
	}
	return g
}
