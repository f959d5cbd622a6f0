package search

// expand writes out the alternatives in braces. It reports false when there are too many.
func expand(pattern string) ([]string, bool) {
	open, cuts := firstBrace(pattern)
	if open < 0 {
		return []string{pattern}, true
	}
	head, tail := pattern[:open], pattern[cuts[len(cuts)-1]+1:]
	var all []string
	start := open + 1
	for _, cut := range cuts {
		// The tail is expanded again for each alternative; the limit keeps that small.
		more, ok := expand(pattern[start:cut] + tail)
		if !ok || len(all)+len(more) > maxExpansion {
			return nil, false
		}
		for _, m := range more {
			all = append(all, head+m)
		}
		start = cut + 1
	}
	return all, true
}

// firstBrace finds the first open brace and where its alternatives end; -1 if there is none.
func firstBrace(pattern string) (open int, cuts []int) {
	open, depth := -1, 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			i = classEnd(pattern, i)
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
