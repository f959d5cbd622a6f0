package programs

import (
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// exec handles find's -exec. It is harmless if its program only reads files below the searched
// folders.
func (s *scan) exec(words []script.Word, known bool) {
	s.each = append(s.each, Names(words)...)
	dashed := func(w script.Word) bool { return strings.HasPrefix(w.Text, "-") }
	if s.odd = s.odd || !known || len(words) == 0 || len(s.operands) != 1 || slices.ContainsFunc(s.operands, dashed); s.odd {
		return
	}
	inner := slices.Clone(words)
	for i, w := range inner {
		if w.Text == "{}" && i > 0 {
			inner[i] = s.operands[0]
			inner[i].Placeholder = true
		} else if !w.Known || strings.Contains(w.Text, "{}") {
			s.odd = true
			return
		}
	}
	use, ok := Judge(inner)
	if s.odd = !ok || !slices.Equal(use.Words, script.Texts(inner)) || len(use.Local) > 0 || use.FolderIndependent || use.Git || inner[0].Text == "find"; s.odd {
		return
	}
	for _, a := range use.Accesses {
		if a.Kind == Read {
			a.Kind, a.Hidden, a.Follow = Tree, true, true // it reads a link's target
		}
		s.odd = s.odd || a.Kind == Write
		s.accesses = append(s.accesses, a)
	}
}
