package plural

import (
	"fmt"
	"strconv"
	"strings"
)

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
