// Package plural formats counts: 1 file, 2 files, 3 entries.
//
// The one rule: callers pass the noun in the singular. Start reading at Of.
//
// Known limits: regular nouns only; in several words the last one changes.
package plural

import (
	"fmt"
	"strconv"
	"strings"
)

// Of returns a number with its noun.
func Of[N ~int | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, Noun(n, noun))
}

// Noun returns the noun form for n.
func Noun[N ~int | ~int64 | ~float64](n N, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, y := strings.CutSuffix(noun, "y"); y && stem == strings.TrimRight(stem, "aeou") { // entry, but not day
		return stem + "ies"
	}
	for _, hiss := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(noun, hiss) {
			return noun + "es"
		}
	}
	return noun + "s"
}

// Grouped is Of with commas between thousands, for display.
func Grouped[N ~int | ~int64](n N, noun string) string {
	return Thousands(n) + " " + Noun(n, noun)
}

// Size formats bytes: 999 B, 4.1 kB, 12.0 MB.
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

// Thousands formats a number with commas between thousands.
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
