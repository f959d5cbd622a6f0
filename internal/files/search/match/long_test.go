package match

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"adze/internal/testkit/effort"
)

// small returns a scanner for which a line of 256 bytes is too long to be held.
func small(m *Matcher, c Config) *Scanner {
	s := NewScanner(m, c)
	s.first, s.window, s.maxLine = 32, 64, 256
	return s
}

// agreeLong compares what is said about lines that do not fit into the buffer with what regexp
// says: which lines match, which are their context, and that what is shown of them stands there.
func agreeLong(t *testing.T, q Query, c Config, text string) {
	t.Helper()
	m, err := Compile(q)
	if err != nil || m.multiline || m.bounds && q.Pattern != `\bfoo\b` && !isASCII([]byte(text)) || strings.Contains(text, "\x00") ||
		strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return
	}
	f, err := small(m, c).Run(context.Background(), iotest.HalfReader(strings.NewReader(text)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	count, want := naive(q, c, text)
	lines := strings.Split(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\n")
	var got strings.Builder
	for _, l := range f.Lines {
		whole := strings.TrimSuffix(lines[l.Number-1], "\r")
		end := l.Column - 1 + len(l.Text)
		if l.Column < 1 || end > len(whole) || whole[l.Column-1:end] != l.Text || l.CutLeft != (l.Column > 1) || l.CutRight != (end < len(whole)) ||
			l.From > l.To || l.To > len(l.Text) {
			t.Fatalf("%+v %+v on %q shows %+v", q, c, text, l)
		}
		fmt.Fprintf(&got, "%d%c%s|", l.Number, map[bool]byte{true: ':', false: '-'}[l.Match], whole)
	}
	if f.Count != count || got.String() != want {
		t.Fatalf("%+v %+v on %q:\n%d %s, want\n%d %s", q, c, text, f.Count, got.String(), count, want)
	}
}

// longPatterns are of every kind that is searched in its own way.
var longPatterns = []string{
	"foo", "fo+", "foo|bar|kx", "(foo|ba)r", "^foo", "bar$", "[Ff]oo.*ba", "a{2,3}b", "(a|b)*k", "x?", "^$", `\bfoo\b`, "(?i)foo|Kx",
	"ö", "o|ö", "[^a]b", `\xffo`, "a\\r", "\\r$", `\w+\s\w`, `[\W\d]a`, `^\S+$`, "\\Afoo", "r\\z", "^foo.*bar$", "^.*z$", "[öÖ]x", "k.{40,60}k",
	"^[^ö]*$", "zz|foobarfoobar", `\w{20,}`, "foo.*\\.$",
}

func TestLinesThatDoNotFitAgreeWithRegexp(t *testing.T) {
	bits := []string{"foo", "bar", "Foo", "FOO", "a", "b", "k", "K", "\u212a", "x", " ", "\n", "\r\n", "\r", "ö", "Ö", "\xff", "\xe2\x84", ".", "日", "zzz"}
	rng := rand.New(rand.NewPCG(3, 4))
	rounds := effort.Rounds(1500, 4000, 4000)
	for range rounds {
		var text strings.Builder
		for range 1 + rng.IntN(4) {
			for range rng.IntN(500) { // of one line, most of them
				text.WriteString(bits[min(rng.IntN(len(bits)), rng.IntN(len(bits)+8))%len(bits)])
				if rng.IntN(3) > 0 {
					text.WriteString("-- ")
				}
			}
			text.WriteString(bits[11+rng.IntN(2)])
		}
		q := Query{Pattern: longPatterns[rng.IntN(len(longPatterns))], IgnoreCase: rng.IntN(3) == 0, Word: rng.IntN(4) == 0, Literal: rng.IntN(6) == 0}
		agreeLong(t, q, Config{Before: rng.IntN(3), After: rng.IntN(3), Width: rng.IntN(2) * 40}, text.String())
	}
}

// FuzzLongLines does the same with patterns and texts of the fuzzer's own.
func FuzzLongLines(f *testing.F) {
	for i, p := range longPatterns {
		f.Add(p, "foo\nbar fo", "x", "öbar\r\nfoo", uint16(i*100), i%2 == 0, i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, pattern, head, fill, tail string, times uint16, fold, word bool) {
		if len(pattern) > 60 || len(head)+len(tail) > 400 || len(fill) > 40 {
			return
		}
		text := head + strings.Repeat(fill, int(times)%300) + tail
		agreeLong(t, Query{Pattern: pattern, IgnoreCase: fold, Word: word}, Config{Before: int(times) % 3, After: int(times) % 2}, text)
	})
}

// A pattern with more states than are kept forgets them, and still tells right.
func TestALongLineOfManyStates(t *testing.T) {
	m, err := Compile(Query{Pattern: "[ab]*a[ab]{12}c$"})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	line := make([]byte, 60_000)
	for i := range line {
		line[i] = "ab"[rng.IntN(2)]
	}
	line[len(line)-14] = 'a'
	for _, end := range []byte("cd") {
		line[len(line)-1] = end
		s := small(m, Config{})
		found, err := s.Run(context.Background(), bytes.NewReader(line), 1)
		if want := map[byte]int{'c': 1}[end]; err != nil || found.Count != want || s.slow.resets < 5 {
			t.Errorf("%c: %d, want %d after %d resets, %v", end, found.Count, want, s.slow.resets, err)
		}
	}
}

// What looks like the mark of an encoding is one at the start of a file alone.
func TestAMarkInsideAFileIsNone(t *testing.T) {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe"} {
		text := strings.Repeat("x", 31) + "\n" + mark + "x\nfoo\n"
		m, err := Compile(Query{Pattern: "foo|^" + mark})
		if mark == "\xff\xfe" {
			m, err = Compile(Query{Pattern: "foo|^x"})
		}
		if err != nil {
			t.Fatal(err)
		}
		s := NewScanner(m, Config{})
		s.first, s.window = 32, 32
		if found, err := s.Run(context.Background(), strings.NewReader(text), 9); err != nil || found.Count != 2 || found.Decode != "" {
			t.Errorf("%q: %+v, %v", mark, found, err)
		}
	}
}

// A character, and what ends the line, may lie across two reads, wherever they are cut.
func TestALongLineIsCutAnywhere(t *testing.T) {
	for _, c := range []struct{ pattern, middle, end string }{
		{"^[^ö]*$", "ö", ""}, {"^[^日]*$", "日", ""}, {"^a*öa*$", "ö", "\r\n"}, {"^a*.a*$", "日", "\r\n"}, {"^a*..a*$", "日", "\n"}, {`a\xffa`, "\xe2\x84", ""},
		{"^a*$", "", "\r\n"}, {"^a*$", "\r", "\n"}, {"a\\r", "", "\r\nb"}, {"a\\r$", "", "\r\r\n"}, {"aöa", "ö", ""}, {"abcd|aöa", "ö", ""}, {"ABCA", "bc", ""}, {"(?i)aöa", "Ö", "\r"},
	} {
		for n := range 70 {
			agreeLong(t, Query{Pattern: c.pattern, IgnoreCase: c.pattern == "ABCA"}, Config{}, strings.Repeat("a", 200+n)+c.middle+strings.Repeat("a", 300)+c.end)
			agreeLong(t, Query{Pattern: c.pattern}, Config{}, c.middle+strings.Repeat("a", 240+n)+c.end)
		}
	}
}
