// Package braces writes out what the braces of a pattern stand for: {a,b}{c,d} is four patterns.
//
// The one rule: a pattern with braces is written out before it is matched. doublestar 4.10 finds
// less with them than with all alternatives: .env*{,.local} does not match .env. And each pair
// multiplies what has to be tried for a name: a pattern of a project's could hold up each call.
// Start reading at Alternatives.
//
// Known limits: a brace that is not closed stands for itself.
package braces

// Most is how many patterns one of somebody else's may stand for.
const Most = 256

// Alternatives writes out the alternatives in braces. It reports false when there are more than
// most.
func Alternatives(pattern string, most int) ([]string, bool) {
	open, cuts := first(pattern)
	if open < 0 {
		return []string{pattern}, true
	}
	head, tail := pattern[:open], pattern[cuts[len(cuts)-1]+1:]
	var all []string
	start := open + 1
	for _, cut := range cuts {
		// The tail is written out again for each alternative; the limit keeps that small.
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

// first finds the first open brace and where its alternatives end; -1 if there is none.
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

// ClassEnd returns the place of the bracket that closes the class opened at i, or i if none does.
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
