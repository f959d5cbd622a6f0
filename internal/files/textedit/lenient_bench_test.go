package textedit

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkLenient is a copy with a forgotten line in a file in which every line is like every
// other, and a copy of what is nowhere.
func BenchmarkLenient(b *testing.B) {
	for _, n := range []int{5_000, 30_000} {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf("\tentry%05d: {kind: %d, name: \"x%d\"},", i, i%7, i*7))
		}
		src := Source{Name: "a.go", Text: strings.Join(lines, "\n") + "\n", Newline: "\n", Read: true}
		forgot := strings.Join(append(lines[n/2:n/2+10:n/2+10], lines[n/2+11:n/2+20]...), "\n")
		for name, e := range map[string]Edit{
			"forgotten": {Old: forgot, New: strings.Replace(forgot, "kind: 3", "kind: 9", 1)},
			"nowhere":   {Old: "func nothing() {\n\treturn 1\n}\n", New: "x"},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					_, _ = Match(src, []Edit{e})
				}
			})
		}
	}
}
