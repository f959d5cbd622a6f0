package match

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
	"adze/internal/text/kern"
)

// twins returns a matcher that uses no vector instructions.
func (m *Matcher) twins() *Matcher {
	plain := *m
	if m.need == nil {
		return &plain
	}
	f := *m.need
	f.pair.Plain = true
	if f.window != nil {
		w := *f.window
		w.Plain = true
		f.window = &w
	}
	if f.class != nil {
		c := *f.class
		c.Plain = true
		f.class = &c
	}
	plain.need = &f
	return &plain
}

// byLine is what the lines of a text say one by one, each asked without any of what comes before
// the last test.
func byLine(m *Matcher, text []byte) (count int) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if m.match(trimReturn(line)) || m.returns && bytes.HasSuffix(line, []byte{'\r'}) && m.match(line) {
			count++
		}
	}
	return count
}

// TestNoCandidateIsLeftOut compares what prefilters and kernels find with every line asked by
// itself: in text beyond ASCII and with boundaries, which regexp does not know, in long runs and
// windows, with the scanners used again for text after text.
func TestNoCandidateIsLeftOut(t *testing.T) {
	patterns := []string{
		`foo`, `\bfoo\b`, `\bfoo`, `foo\b`, `\bfoo|foobar\b`, `\b(foo|foobar|kx)\b`, `\b(?:a|ab|aß)\b`, `foo|bar|kx|öl`, `[a-k]{3}_[A-Z]+`, `\d-\d`, `f\d+o`, `x[^a]y`,
		`\w{20,}`, `\w{8}`, `[a-f]{9,12}x?`, `\S{70,}`, `[^ ]{10,}k`, `(foo|ba[rz])+[kK]`, `(?:foo\d|\dbar)\w`, `a.c_[xyz]`, `(ab|cd)(ef|gh)`, `(?:[A-Z]_){2}`, `ſ|K`, `(x|y{2})_{3}`,
		`é\b`, `\bö`, `[äöü]{8,}`, `\x{fffd}{3}`, `[^\n]{9}`, `.{30}_`, `\bx\B`, `_\b`, `-foo\b`, `\b-foo`, `foo\r`, `\.(foo|a|k|bar)\b`, `(a|b?x|ö)_[AX]`, `(?:a|(?:k|s|y.)1)2`, `[ſK]x`, `(?:x?y?_)a`, `(a|b|k|x|y|1|2|9|_|ö)foo`, `(?:ab|.)_X`, `(foo|)bar1`, `[a-c\r]{8,}`, `^[fk]oo_`, `\w+_foo\b`,
	}
	bits := strings.Split("foo bar Foo FOO a b k K \u212a s \u017f x y _ __ - ö Ö öl é ä ß \xff \xc3 . aab 1 2 9 A_ abcdefabcdef foo_ X_Y wwwwwwwww", " ")
	bits = append(bits, " ", " ", "\n", "\n", "\n", "\r\n", "\r", strings.Repeat("word", 30))
	rng := rand.New(rand.NewPCG(7, 8))
	texts := effort.Rounds(4, 10, 10)
	for _, pattern := range patterns {
		q := Query{Pattern: pattern, IgnoreCase: rng.IntN(2) == 0, Word: rng.IntN(4) == 0}
		m, err := Compile(q)
		if err != nil {
			t.Fatal(err)
		}
		window := 40 + rng.IntN(400)
		scanners := []*Scanner{tiny(m, Config{}, window), tiny(m.twins(), Config{}, window), NewScanner(m, Config{})}
		for range texts {
			var b bytes.Buffer
			for range rng.IntN(300) {
				b.WriteString(bits[rng.IntN(len(bits))])
			}
			want := byLine(m, b.Bytes())
			for i, s := range scanners {
				f, err := s.Run(context.Background(), bytes.NewReader(b.Bytes()), 0)
				if err != nil || f.Count != want {
					t.Fatalf("%+v, scanner %d, window %d: %d lines, want %d (%v) of %q", q, i, window, f.Count, want, err, b.String())
				}
			}
		}
	}
}

// TestWhatIsLookedFor holds which patterns are spared a test of every line, and by what.
func TestWhatIsLookedFor(t *testing.T) {
	kind := func(f *finder) string {
		switch {
		case f == nil:
			return "lines"
		case f.class != nil:
			return "run"
		case f.window != nil && len(f.needles) == 0:
			return "classes"
		case f.window != nil:
			return "literals"
		}
		return "literal " + string(f.needles[0].text)
	}
	for pattern, want := range map[string]string{
		`return`: "literal return", `.*Error.*return`: "literal Error", `func \w+\(`: "literal func ", `(?i)time_out`: "literal time_out",
		`foo|bar`: "literals", `\berr\b`: "literal err", `(foo|bar)\d{2}`: "literals", `[A-Z]{3,}_[A-Z]+`: "classes", `v\d+\.\d+`: "classes",
		`\w{20,}`: "run", `[0-9a-f]{32}`: "run", `\w+`: "lines", `.*`: "lines", `^\s*$`: "lines", `[a-z]+|x`: "lines", `\.(go|c|h|py)\b`: "classes", `(?i)sk`: "classes", `https?://`: "literal ://", `(a|bc?)_[xy]`: "classes",
	} {
		m, err := Compile(Query{Pattern: pattern})
		if err != nil {
			t.Fatal(err)
		}
		if got := kind(m.need); got != want {
			t.Errorf("%s looks for %s, want %s", pattern, got, want)
		}
	}
}

// FuzzPrefilter compares kernels and twins with every line asked by itself, for patterns of the
// fuzzer's own.
func FuzzPrefilter(f *testing.F) {
	f.Add(`\b(foo|bar)\b`, []byte("a foo\nbär\n"), true, uint8(90))
	f.Add(`[A-Z]{3}_x|\d{9,}`, []byte("ABC_x 123456789\n"), false, uint8(200))
	f.Fuzz(func(t *testing.T, pattern string, text []byte, fold bool, window uint8) {
		if len(pattern) > 60 || len(text) > 4000 || bytes.IndexByte(text, 0) >= 0 || bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) || bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
			return
		}
		m, err := Compile(Query{Pattern: pattern, IgnoreCase: fold})
		if err != nil {
			return
		}
		text = append(bytes.Repeat([]byte("hay and hay\n"), int(window)/16), text...)
		want := byLine(m, text)
		for _, s := range []*Scanner{tiny(m, Config{}, 8+int(window)), tiny(m.twins(), Config{}, 8+int(window))} {
			for range 2 {
				if found, err := s.Run(context.Background(), bytes.NewReader(text), 0); err != nil || found.Count != want {
					t.Fatalf("%q on %q: %d lines, want %d (%v)", pattern, text, found.Count, want, err)
				}
			}
		}
	})
}

// TestABufferIsUsedAgainAfterALongLine reads a file that makes the buffer grow, then a short one.
func TestABufferIsUsedAgainAfterALongLine(t *testing.T) {
	m, err := Compile(Query{Pattern: "needle"})
	if err != nil {
		t.Fatal(err)
	}
	s := NewScanner(m, Config{})
	for _, text := range []string{strings.Repeat("x", 5*window) + "needle\n", "a\nneedle\n", strings.Repeat("y\n", window) + "needle", ""} {
		f, err := s.Run(context.Background(), strings.NewReader(text), 1)
		if want := min(1, len(text)); err != nil || f.Count != want {
			t.Errorf("%d bytes: %d matches, want %d (%v)", len(text), f.Count, want, err)
		}
	}
	if cap(s.buf) > window+kern.Slack || s.buf == nil {
		t.Errorf("%d bytes are kept after a long line", cap(s.buf))
	}
}

// TestDeepPatternsCostLittle compiles what would take for ever if each repetition were written out.
func TestDeepPatternsCostLittle(t *testing.T) {
	for _, pattern := range []string{
		strings.Repeat("(", 400) + "a" + strings.Repeat(")+", 400), strings.Repeat("(a|", 300) + "b" + strings.Repeat(")+", 300),
		strings.Repeat("(?:x?", 200) + "y" + strings.Repeat(")", 200), strings.Repeat("[a-z]", 1600), strings.Repeat("(?:ab|cd)", 800),
	} {
		m, err := Compile(Query{Pattern: pattern})
		if err != nil {
			t.Fatalf("%.20s: %v", pattern, err)
		}
		text := []byte(strings.Repeat("a", 300) + strings.Repeat("b", 300) + strings.Repeat("xy", 200) + strings.Repeat("abcd", 500))
		f, err := NewScanner(m, Config{}).Run(context.Background(), bytes.NewReader(text), 0)
		if want := byLine(m, text); err != nil || f.Count != want {
			t.Errorf("%.20s: %d lines, want %d (%v)", pattern, f.Count, want, err)
		}
	}
}
