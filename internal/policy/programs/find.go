package programs

import (
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// exec takes -exec of find, where the program behind it only looks: at what lies below the folders
// that are searched.
func (s *scan) exec() {
	end := slices.IndexFunc(s.args, func(w script.Word) bool { return w.Is(";") || w.Is("+") })
	if end < 1 || len(s.operands) != 1 || slices.ContainsFunc(s.operands, func(w script.Word) bool { return strings.HasPrefix(w.Text, "-") }) {
		s.odd = true
		return
	}
	inner := slices.Clone(s.args[:end])
	s.args = s.args[end+1:]
	for i, w := range inner {
		if w.Text == "{}" && i > 0 {
			inner[i] = s.operands[0]
			inner[i].Found = true
		} else if !w.Known || strings.Contains(w.Text, "{}") {
			s.odd = true
			return
		}
	}
	use, ok := Judge(inner)
	same := func(a string, w script.Word) bool { return a == w.Text }
	if !ok || !slices.EqualFunc(use.Words, inner, same) || len(use.Local) > 0 || use.Away || inner[0].Text == "find" {
		s.odd = true
		return
	}
	for _, a := range use.Accesses {
		if a.Kind == Read {
			a.Kind, a.Hidden, a.Follow = Tree, true, true // of a link, it reads what that leads to
		}
		s.odd = s.odd || a.Kind == Write
		s.use.Accesses = append(s.use.Accesses, a)
	}
}
