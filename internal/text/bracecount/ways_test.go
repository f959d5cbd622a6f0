package bracecount

import (
	"strings"
	"testing"
)

func TestHowManyPatternsOneStandsFor(t *testing.T) {
	for pattern, want := range map[string]bool{
		"": false, "*.go": false, "{a,b}": false, strings.Repeat("{a,b}", 8): false, strings.Repeat("{a,b}", 9): true,
		strings.Repeat("{a,*}", 20): true, strings.Repeat(`\{a,b}`, 20): false, "}" + strings.Repeat("a,", 999): false,
		"{" + strings.Repeat("a,", 300) + "}": true, "{" + strings.Repeat("a,", 300): false,
	} {
		if TooMany(pattern) != want {
			t.Errorf("%.40q: %v", pattern, !want)
		}
	}
}
