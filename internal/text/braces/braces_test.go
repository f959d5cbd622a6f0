package braces

import (
	"strings"
	"testing"
)

func TestAlternatives(t *testing.T) {
	for pattern, want := range map[string]string{
		"*.go": "*.go", "{a,b}c": "ac bc", ".env*{,.local}": ".env* .env*.local", "{a,{b,c}/d}": "a b/d c/d", "{a}": "a",
		`\{a,b}`: `\{a,b}`, "[{a,b}]": "[{a,b}]", "}a,b": "}a,b", "{a,b": "{a,b", "[{": "[{", "{[,],a}": "[,] a",
	} {
		if got, ok := Alternatives(pattern, MaxExpansions); !ok || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
	for pattern, want := range map[string]bool{
		strings.Repeat("{a,b}", 8): true, strings.Repeat("{a,b}", 9): false, strings.Repeat("{a,*}", 20): false,
		strings.Repeat(`\{a,b}`, 20): true, "}" + strings.Repeat("a,", 999): true, "{" + strings.Repeat("a,", 300) + "}": false,
	} {
		if _, ok := Alternatives(pattern, MaxExpansions); ok != want {
			t.Errorf("%.40q: %v", pattern, ok)
		}
	}
}
