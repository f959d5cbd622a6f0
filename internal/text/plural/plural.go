// Package plural writes numbers of things: 1 file, 2 files, 3 entries.
//
// The one rule: a noun is given in the singular, and English makes the rest. Start reading at Of.
//
// Known limits: regular nouns only; of several words the last one changes.
package plural

import (
	"fmt"
	"strings"
)

// Of is a number with its noun.
func Of[N ~int | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, Noun(n, noun))
}

// Noun is a noun for so many.
func Noun[N ~int | ~int64 | ~float64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, y := strings.CutSuffix(noun, "y"); y && stem == strings.TrimRight(stem, "aeou") { // an entry, but a day
		return stem + "ies"
	}
	for _, hiss := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(noun, hiss) {
			return noun + "es"
		}
	}
	return noun + "s"
}
