// Package braces expands braces in patterns: {a,b}{c,d} is four patterns.
//
// The one rule: a pattern with braces is expanded before matching. doublestar 4.10 finds fewer
// matches with them than with all alternatives: .env*{,.local} does not match .env. And each pair
// multiplies the work for a name: a project's pattern could slow down every call. Start reading at
// Alternatives.
//
// Known limits: an unclosed brace is literal.
package braces

// MaxExpansions bounds the expansions of an untrusted pattern.
const MaxExpansions = 256

// Alternatives expands the braces in a pattern. It returns false if there are more than most
// results.
func Alternatives(pattern string, most int) ([]string, bool) {
	open, cuts := first(pattern)
	if open < 0 {
		return []string{pattern}, true
	}
	head, tail := pattern[:open], pattern[cuts[len(cuts)-1]+1:]
	var all []string
	start := open + 1
	for _, cut := range cuts {
		// The tail is expanded again for each alternative; the limit keeps that small.
		more, ok := Alternatives(pattern[start:cut]+tail, most)
		if !ok || len(all)+len(more) > most {
			return nil, false
		}
		for _, m := range more {
			all = append(all, head+m)
		}
		start = cut + 1
	}
	return all, true
}

// first returns the first open brace and the ends of its alternatives, or -1.
func first(pattern string) (open int, cuts []int) {
	open, depth := -1, 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			i = ClassEnd(pattern, i)
		case c == '{':
			if depth++; open < 0 {
				open = i
			}
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, append(cuts, i)
			}
		}
	}
	return -1, nil
}

// ClassEnd returns the index of the bracket that closes the class opened at i, or i.
func ClassEnd(pattern string, i int) int {
	for k := i + 1; k < len(pattern); k++ {
		switch {
		case pattern[k] == '\\':
			k++
		case pattern[k] == ']' && k > i+1:
			return k
		}
	}
	return i
}
