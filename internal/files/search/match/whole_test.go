package match

import (
	"strings"
	"testing"
)

// TestManyAlternatives looks for more literals than a window has bits.
func TestManyAlternatives(t *testing.T) {
	var words, lines []string
	for a := range 5 {
		for b := range 6 {
			word := strings.Repeat(string(rune('a'+a)), 1+b%3) + string(rune('p'+b))
			words, lines = append(words, word), append(lines, "x"+word+"y", "x"+word[:len(word)-1]+"y")
		}
	}
	text := strings.Join(lines, "\n")
	for _, n := range []int{8, 9, 17, 30} {
		q := Query{Pattern: strings.Join(words[:n], "|")}
		m, err := Compile(q)
		if err != nil || m.need == nil || len(m.need.needles) < n/3 && m.need.window == nil {
			t.Fatalf("%d: %+v, %v", n, m, err)
		}
		agree(t, q, Config{}, text, 40)
		q.IgnoreCase = true
		agree(t, q, Config{}, strings.ToUpper(text), 40)
	}
}
