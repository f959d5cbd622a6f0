// Package bracecount bounds what the braces of a pattern stand for: {a,b}{c,d} is four patterns,
// and each pair multiplies what has to be tried for a name. A pattern of a project's could hold up
// each call with it.
//
// The one rule: it is asked before a pattern that somebody else wrote is matched. Start reading at
// TooMany.
//
// Known limits: it counts; a brace that is not closed, or stands in a class, counts as any other,
// so the count may be too high.
package bracecount

// Most is how many patterns one may stand for.
const Most = 256

// TooMany reports a pattern that stands for more than that.
func TooMany(pattern string) bool {
	n, open := 1, []int{}
	for i := 0; i < len(pattern); i++ {
		switch last := len(open) - 1; {
		case pattern[i] == '\\':
			i++
		case pattern[i] == '{':
			open = append(open, 1)
		case pattern[i] == ',' && last >= 0:
			open[last]++
		case pattern[i] == '}' && last >= 0:
			if n *= open[last]; n > Most {
				return true
			}
			open = open[:last]
		}
	}
	return false
}
