package match

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// maker writes patterns of every form, over few letters, so that they match often.
type maker struct {
	*rand.Rand
	ascii bool
}

func (m maker) pick(from ...string) string { return from[m.IntN(len(from))] }

// pattern is one of at most depth levels.
func (m maker) pattern(depth int) string {
	if depth == 0 || m.IntN(4) == 0 {
		return m.atom()
	}
	switch m.IntN(7) {
	case 0, 1:
		return m.pattern(depth-1) + m.pattern(depth-1)
	case 2:
		return "(" + m.pattern(depth-1) + "|" + m.pattern(depth-1) + ")"
	case 3:
		return m.pattern(depth-1) + "|" + m.pattern(depth-1)
	case 4:
		return "(?:" + m.pattern(depth-1) + ")" + m.pick("+", "*", "?", "+?", "*?", "{2}", "{1,3}", "{2,}", "{0,2}")
	case 5:
		return m.pick("^", "", `\b`, `\B`) + m.pattern(depth-1) + m.pick("$", "", `\b`, `\B`)
	}
	return m.pick("(?i)", "(?i:a)", "(?s)", "") + m.pattern(depth-1)
}

func (m maker) atom() string {
	if !m.ascii && m.IntN(5) == 0 {
		return m.pick("ö", "[öa]", "[^ö]", `\W`, "[à-ÿ]", "K", `\pL`, ".")
	}
	return m.pick("a", "b", "ab", "k", "foo", "0", ".", "[ab]", "[^a]", `\w`, `\d`, `\s`, "[a-z]", " ", `\.`, "s", "fo+", "a+", "foobar", `\w{9,}`)
}

func (m maker) text() string {
	var text strings.Builder
	for range m.IntN(30) {
		text.WriteString(m.pick("a", "b", "foo", "0", "00", "bar", "k", "s", " ", " ", ".", "\n", "\n", "\r\n", "ab", "A", "K", "x", "_", "foofoo", " aa ", "abab", "foo foo"))
		if !m.ascii && m.IntN(6) == 0 {
			text.WriteString(m.pick("ö", "Ö", "\u212a", "\u017f", "\xff", "日", "\xe2\x84"))
		}
	}
	return text.String()
}

// What is repeated stands beside itself, so its edges are not those of each time.
func TestRepeatedWords(t *testing.T) {
	for pattern, want := range map[string]string{"0+": "1:00|2:0|", `(ab){1,3}`: "4:ababab|5:ab|", "x+|y": "8:xx|9:y|", "(?i)(AB)+": "4:ababab|5:ab|6:abababab|"} {
		text := "00\n0\n001\nababab\nab\nabababab\nabc\nxx\ny\nyy\n"
		for _, q := range []Query{{Pattern: pattern, Word: true}, {Pattern: `\b(?:` + pattern + `)\b`}} {
			if got := show(scan(t, q, Config{}, text).Lines); got != want {
				t.Errorf("%+v: %s, want %s", q, got, want)
			}
		}
	}
}

// TestMadePatternsAgreeWithRegexp does what TestAgreesWithRegexp does with patterns that are put
// together from all forms.
func TestMadePatternsAgreeWithRegexp(t *testing.T) {
	m := maker{Rand: rand.New(rand.NewPCG(1, 9))}
	for range rounds(3_000) {
		m.ascii = m.IntN(2) == 0
		q := Query{Pattern: m.pattern(1 + m.IntN(3)), IgnoreCase: m.IntN(4) == 0, Word: m.IntN(3) == 0}
		for range 4 {
			agree(t, q, Config{}, m.text(), 1+m.IntN(30))
		}
	}
}

// FuzzMadePatterns does the same from the fuzzer's seeds.
func FuzzMadePatterns(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint8(0))
	f.Fuzz(func(t *testing.T, a, b uint64, n uint8) {
		m := maker{Rand: rand.New(rand.NewPCG(a, b)), ascii: n&1 == 0}
		q := Query{Pattern: m.pattern(1 + m.IntN(4)), IgnoreCase: n&2 != 0, Word: n&4 != 0}
		text := m.text()
		t.Log(strconv.Quote(q.Pattern))
		agree(t, q, Config{Before: int(n) % 3, After: int(n) % 2}, text, 1+int(n))
	})
}
