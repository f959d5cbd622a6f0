package archtest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "lower the ceilings in testdata; none is raised")

// shown is how many types the ceilings name.
const shown = 20

// mostOfARun is how many functions may reach a type that a run is built of. One struct where all
// stages meet is how it was.
const mostOfARun = 83

// TestReachOnlyFalls holds the reach of the largest types at the committed ceilings. A type that is
// not in the list may reach as far as the last one in it.
func TestReachOnlyFalls(t *testing.T) {
	found, err := Reaches(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("testdata/reach.txt")
	if err != nil {
		t.Fatal(err)
	}
	ceilings, least := map[string]int{}, 1<<30
	for line := range strings.Lines(string(raw)) {
		var n int
		var name string
		if _, err := fmt.Sscan(line, &n, &name); err != nil {
			t.Fatalf("testdata/reach.txt: %q: %v", line, err)
		}
		ceilings[name], least = n, min(least, n)
	}
	var lowered strings.Builder
	for i, r := range found {
		ceiling, known := ceilings[r.Type]
		if !known {
			ceiling = least
		}
		if strings.HasPrefix(r.Type, "internal/run") {
			ceiling = min(ceiling, mostOfARun)
		}
		if r.Functions > ceiling {
			t.Errorf("%d functions reach %s, and %d may: give what they share a type of its own", r.Functions, r.Type, ceiling)
		}
		if i < shown {
			t.Logf("%4d %s", r.Functions, r.Type)
			fmt.Fprintf(&lowered, "%d %s\n", min(r.Functions, ceiling), r.Type)
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile("testdata/reach.txt", []byte(lowered.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReachCountsDisguises shows that reach does not fall when methods become functions, or when
// the object is handed over inside another struct.
func TestReachCountsDisguises(t *testing.T) {
	const fields = "type T struct{ n int }\ntype box struct{ t *T }\n"
	for name, c := range map[string]struct {
		code string
		want int
	}{
		"a method":                    {"func (t *T) a() { t.n++ }\n", 1},
		"a function":                  {"func a(t *T) { t.n++ }\n", 1},
		"inside another struct":       {"func a(b box) { b.t.n++ }\n", 1},
		"handed on, untouched":        {"func a(b *box) { c(b) }\nfunc c(any) {}\n", 1},
		"in a list":                   {"func a(ts []*T) {}\n", 1},
		"by a variable of its own":    {"func a() int { var t T; return t.n }\n", 1},
		"made and given away":         {"func a() *T { return &T{} }\n", 0},
		"made with its fields":        {"func a() *T { return &T{n: 1} }\n", 1},
		"several in one":              {"func (t *T) a() {}\nfunc (t *T) b() {}\nfunc c(t T) {}\n", 3},
		"another type has that field": {"type other struct{ n int }\nfunc a(o other) int { return o.n }\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Reaches(inMemory(map[string]string{"tool/p.go": fields + c.code}))
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, r := range found {
				if r.Type == "tool.T" {
					got = r.Functions
				}
			}
			if got != c.want {
				t.Errorf("reach %d, want %d (%v)", got, c.want, found)
			}
		})
	}
}
