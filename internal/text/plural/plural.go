// Package plural writes numbers of things: 1 file, 2 files, 3 entries.
//
// The one rule: a noun is given in the singular, and English makes the rest. Start reading at Of.
//
// Known limits: regular nouns only; of several words the last one changes.
package plural

import (
	"fmt"
	"strconv"
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

// Grouped is a number with its noun, as Of writes it, with a comma between thousands: for what a
// user reads.
func Grouped[N ~int | ~int64](n N, noun string) string {
	return Thousands(n) + " " + Noun(n, noun)
}

// Size writes bytes as people read them: 999 B, 4.1 kB, 12.0 MB.
func Size[N ~int | ~int64](n N) string {
	if n < 1000 {
		return strconv.FormatInt(int64(n), 10) + " B"
	}
	value, unit := float64(n)/1000, 0
	for ; value >= 1000 && unit < 3; unit++ {
		value /= 1000
	}
	return fmt.Sprintf("%.1f %cB", value, "kMGT"[unit])
}

// Thousands is a number with a comma between thousands.
func Thousands[N ~int | ~int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, groups...), ",")
}
