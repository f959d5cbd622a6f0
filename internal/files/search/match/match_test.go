package match

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"adze/internal/testkit/effort"
)

// tiny returns a scanner whose buffers are so small that every text rolls through them.
func tiny(m *Matcher, c Config, window int) *Scanner {
	s := NewScanner(m, c)
	s.first, s.window, s.maxLine = max(1, window/2), window, 1<<16
	return s
}

func scan(t *testing.T, q Query, c Config, text string) FileResult {
	t.Helper()
	m, err := Compile(q)
	if err != nil {
		t.Fatal(err)
	}
	found, err := NewScanner(m, c).Run(context.Background(), strings.NewReader(text), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// show prints lines as "3:match" and "4-context".
func show(lines []Line) string {
	var out strings.Builder
	for _, l := range lines {
		sep := "-"
		if l.Match {
			sep = ":"
		}
		fmt.Fprintf(&out, "%d%s%s|", l.Number, sep, l.Text)
	}
	return out.String()
}

func TestScan(t *testing.T) {
	for name, c := range map[string]struct {
		q    Query
		c    Config
		text string
		want string
	}{
		"plain":            {Query{Pattern: "b"}, Config{}, "a\nb\nab", "2:b|3:ab|"},
		"no final break":   {Query{Pattern: "^$"}, Config{}, "a\n\nb\n", "2:|"},
		"empty file":       {Query{Pattern: "^"}, Config{}, "", ""},
		"crlf anchors":     {Query{Pattern: "b$"}, Config{}, "b\r\nb \r\n", "1:b|"},
		"literal":          {Query{Pattern: "a.b(", Literal: true}, Config{}, "axb(\na.b(\n", "2:a.b(|"},
		"ignore case":      {Query{Pattern: "Größe", IgnoreCase: true}, Config{}, "GRÖSSE\ngröße\nGRÖßE\n", "2:größe|3:GRÖßE|"},
		"kelvin":           {Query{Pattern: "task", IgnoreCase: true}, Config{}, "TAS\u212a\nta\u017fk\n", "1:TAS\u212a|2:ta\u017fk|"},
		"word":             {Query{Pattern: "err", Word: true}, Config{}, "errs\nmy_err\n(err)\nerrä\nerrors err\n", "3:(err)|5:errors err|"},
		"word of symbols":  {Query{Pattern: "-x", Literal: true, Word: true}, Config{}, "a -x b\n-xy\n", "1:a -x b|"},
		"word tries both":  {Query{Pattern: "foo|foobar", Word: true}, Config{}, "foobar\n", "1:foobar|"},
		"context":          {Query{Pattern: "X"}, Config{Before: 1, After: 1}, "a\nb\nX\nc\nX\nd\ne\n", "2-b|3:X|4-c|5:X|6-d|"},
		"context at ends":  {Query{Pattern: "X"}, Config{Before: 3, After: 3}, "X\na", "1:X|2-a|"},
		"branch with \\n":  {Query{Pattern: `foo|a\nb`}, Config{}, "a\nb\nfoo\n", "3:foo|"},
		"literal \\r":      {Query{Pattern: "a\r", Literal: true}, Config{}, "a\r\na\rb\n", "1:a|2:a\rb|"},
		"utf-8 mark":       {Query{Pattern: "^import"}, Config{Before: 1}, "\xef\xbb\xbfimport x\n", "1:import x|"},
		"latin-1 stays":    {Query{Pattern: "gr"}, Config{}, "gr\xf6\xdfe\n", "1:gr\xf6\xdfe|"},
		"replacement rune": {Query{Pattern: "\ufffd"}, Config{}, "x\xffy\n", "1:x\xffy|"},
		"span":             {Query{Pattern: `b\n^c$`, Multiline: true}, Config{Before: 1, After: 1}, "a\nb\nc\nd\ne", "1-a|2:b|3:c|4-d|"},
		"end before CRLF":  {Query{Pattern: `b$`, Multiline: true}, Config{}, "ab\r\nb\nbc\r\n", "1:ab|2:b|"},
		"span over CRLF":   {Query{Pattern: `b$\s+^$\s+c$`, Multiline: true}, Config{}, "b\r\n\r\nc\r\n", "1:b|2:|3:c|"},
		"spans":            {Query{Pattern: `\w\n`, Multiline: true}, Config{}, "a\nb\nc", "1:a|2:b|"},
		"span from start":  {Query{Pattern: `\Aa`, Multiline: true}, Config{}, "a\na\n", "1:a|"},
		"span word":        {Query{Pattern: "a", Multiline: true, Word: true}, Config{}, "ab a\na\n", "1:ab a|2:a|"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := show(scan(t, c.q, c.c, c.text).Lines); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestCutsAroundTheMatch(t *testing.T) {
	long := strings.Repeat("ä", 400) + "MATCH" + strings.Repeat("b", 400)
	l := scan(t, Query{Pattern: "MATCH"}, Config{Width: 100}, long).Lines[0]
	if l.Text[l.MatchStart:l.MatchEnd] != "MATCH" || len([]rune(l.Text)) != 100 || !l.CutLeft || !l.CutRight {
		t.Errorf("cut to %q (%d..%d)", l.Text, l.MatchStart, l.MatchEnd)
	}
	l = scan(t, Query{Pattern: "ä+"}, Config{Width: 100}, long).Lines[0]
	if l.CutLeft || !l.CutRight || l.MatchStart != 0 || l.MatchEnd != len(l.Text) {
		t.Errorf("a long match is cut to %q (%d..%d)", l.Text, l.MatchStart, l.MatchEnd)
	}
	l = scan(t, Query{Pattern: "b$"}, Config{Width: 100}, long).Lines[0]
	if !l.CutLeft || l.CutRight || l.MatchEnd != len(l.Text) || len([]rune(l.Text)) != 100 {
		t.Errorf("the end is cut to %q (%d..%d)", l.Text, l.MatchStart, l.MatchEnd)
	}
}

func TestSkips(t *testing.T) {
	if f := scan(t, Query{Pattern: "a"}, Config{}, "a\na\x00\n"); f.Skip != Binary || f.Count != 0 {
		t.Errorf("a NUL gives %+v", f)
	}
	late := strings.Repeat("a\n", firstRead) + "\x00"
	if f := scan(t, Query{Pattern: "a"}, Config{}, late); f.Skip != Searched || f.Count != firstRead || !f.NULs {
		t.Errorf("a late NUL gives %v, %d", f.Skip, f.Count)
	}
	if f := scan(t, Query{Pattern: "b$"}, Config{}, strings.Repeat("a", MaxLine/2)+"b"); f.Count != 1 {
		t.Errorf("half a long line gives %d matches", f.Count)
	}
	big := strings.Repeat("a\n", MaxMultiline/2+1) + "b"
	if f := scan(t, Query{Pattern: `b\s`, Multiline: true}, Config{}, big); f.Skip != TooLarge {
		t.Errorf("a large file gives %+v", f)
	}
	if f := scan(t, Query{Pattern: "b$", Multiline: true}, Config{}, big); f.Count != 1 {
		t.Errorf("where no match can have a line break, a large file gives %+v", f)
	}
}

func TestReadsUTF16(t *testing.T) {
	text := "größe\n𝄞 match\n" + strings.Repeat("pad\n", 60000) + "match"
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var raw []byte
		raw = order.AppendUint16(raw, 0xfeff)
		for _, unit := range utf16.Encode([]rune(text)) {
			raw = order.AppendUint16(raw, unit)
		}
		f := scan(t, Query{Pattern: "größe|match"}, Config{}, string(raw))
		if got, want := show(f.Lines), "1:größe|2:𝄞 match|60003:match|"; got != want || f.Decode != "utf-16" {
			t.Errorf("%v: got %q %q", order, got, f.Decode)
		}
	}
	if f := scan(t, Query{Pattern: "\ufffd"}, Config{}, "\xff\xfe\x00\xd8a\x00\x00"); f.Count != 1 || f.Lines[0].Text != "\ufffda\ufffd" {
		t.Errorf("broken UTF-16 gives %+v", f)
	}
}

func TestErrors(t *testing.T) {
	m, _ := Compile(Query{Pattern: "a"})
	s := NewScanner(m, Config{})
	if _, err := s.Run(context.Background(), iotest.ErrReader(io.ErrClosedPipe), 1); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a failing reader gives %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(ctx, strings.NewReader("a"), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gives %v", err)
	}
}

func TestPatternErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                                "the pattern is empty; say what to look for",
		"func (":                          "the pattern `func (`, at position 6, is not valid: missing closing )",
		"ä(a))":                           "the pattern `ä(a))`, at position 5, is not valid: unexpected )",
		`\*a**`:                           "the pattern `\\*a**`, at position 4, is not valid: invalid nested repetition operator `**`",
		"a[b":                             "the pattern `a[b`, at position 2, is not valid: missing closing ] `[b`",
		"x*\n+":                           `the pattern "x*\n+", at position 3, has a line break; set multiline to match across lines`,
		`ab\n`:                            "the pattern `ab\\n`, at position 3, has a line break; set multiline to match across lines",
		`(?<x)`:                           "the pattern `(?<x)`, at position 1, is not valid: invalid named capture `(?<x)`",
		`foo(?=x)`:                        "the pattern `foo(?=x)`, at position 4, is not valid: invalid or unsupported Perl syntax `(?=`",
		strings.Repeat("x", MaxPattern+1): "the pattern has 8193 bytes, at most 8192 are taken; look for a part of it",
	} {
		_, err := Compile(Query{Pattern: pattern})
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", pattern, err, want)
		}
	}
}

// naive is what regexp says about one line after another.
func naive(q Query, c Config, text string) (int, string) {
	expr := regexp.QuoteMeta(q.Pattern)
	if !q.Literal {
		// Where a line holds a whole word, it does so between the ends of the line or other
		// characters.
		whole := "(?:^|" + notWord + ")foo(?:$|" + notWord + ")"
		if q.Word {
			whole = "foo"
		}
		if expr = unicodeClasses(closed(q.Pattern)); q.Pattern == `\bfoo\b` {
			expr = unicodeClasses(whole)
		}
	}
	re := regexp.MustCompile(wrap(expr, q))
	returns := strings.Contains(q.Pattern, "\r") || !q.Literal && strings.Contains(q.Pattern, `\r`)
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	kind := make([]byte, len(lines))
	count := 0
	ended := make([]bool, len(lines))
	for i := range lines {
		ended[i] = strings.HasSuffix(lines[i], "\r")
		lines[i] = strings.TrimSuffix(lines[i], "\r")
		if !re.MatchString(lines[i]) && !(returns && ended[i] && re.MatchString(lines[i]+"\r")) {
			continue
		}
		count++
		for k := max(0, i-c.Before); k <= min(len(lines)-1, i+c.After); k++ {
			if kind[k] == 0 {
				kind[k] = '-'
			}
		}
		kind[i] = ':'
	}
	var out strings.Builder
	for i, k := range kind {
		if k != 0 {
			fmt.Fprintf(&out, "%d%c%s|", i+1, k, lines[i])
		}
	}
	return count, out.String()
}

func agree(t *testing.T, q Query, c Config, text string, window int) {
	t.Helper()
	m, err := Compile(q)
	if err != nil || m.bounds && q.Pattern != `\bfoo\b` && !isASCII([]byte(text)) || bytes.IndexByte([]byte(text), 0) >= 0 || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		return
	}
	f, err := tiny(m, c, window).Run(context.Background(), iotest.HalfReader(strings.NewReader(text)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	count, lines := naive(q, c, text)
	if f.Count != count || show(f.Lines) != lines {
		t.Fatalf("%+v %+v on %q, window %d:\n%d %s", q, c, text, window, f.Count, cmp.Diff(lines, show(f.Lines)))
	}
}

// TestAgreesWithRegexp compares prefilter and rolling buffer with regexp on random text.
func TestAgreesWithRegexp(t *testing.T) {
	patterns := []string{
		"foo", "fo+", "foo|bar|kx", "(foo|ba)r", "^foo", "bar$", "[Ff]oo.*ba", "a{2,3}b", "(a|b)*k", "", "x?", "f(o|x)o(b)?",
		"^$", "^\\s*$", "\\bfoo\\b", "(?i)foo|Kx", "(?s)a.b", "ö", "o|ö", "[^a]b", "foo\\.bar", "a.c|b.d", "(?i:sk)a", "\\xffo",
		"foo|", "(foo)+bar", "a\\r", "\\r$", "r", `\w+\s\w`, `[\W\d]a`, `^\S+$`, `[^\w\s]`, "k{0}foo", "\\Afoo", "r\\z", "foo|bar|a|b|k|x|ö|s|S",
	}
	bits := []string{"foo", "bar", "Foo", "FOO", "a", "b", "k", "K", "\u212a", "s", "\u017f", "x", " ", "\n", "\n", "\r\n", "\r", "ö", "Ö", "\xff", ".", "aab"}
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := effort.Rounds(2000, 8000, 8000)
	for range rounds {
		var text strings.Builder
		for range rng.IntN(40) {
			text.WriteString(bits[rng.IntN(len(bits))])
		}
		q := Query{Pattern: patterns[rng.IntN(len(patterns))], IgnoreCase: rng.IntN(3) == 0, Word: rng.IntN(4) == 0, Literal: rng.IntN(6) == 0}
		agree(t, q, Config{Before: rng.IntN(3), After: rng.IntN(3)}, text.String(), 1+rng.IntN(30))
	}
}

// FuzzAgreesWithRegexp does the same with patterns of the fuzzer's own.
func FuzzAgreesWithRegexp(f *testing.F) {
	f.Add("foo|bar", "a foo\nBAR\r\n", true, false, uint8(5))
	f.Add("^\\w+\\(", "f(x)\n g(y)", false, true, uint8(2))
	f.Fuzz(func(t *testing.T, pattern, text string, fold, word bool, window uint8) {
		if len(pattern) > 60 || len(text) > 400 {
			return
		}
		agree(t, Query{Pattern: pattern, IgnoreCase: fold, Word: word}, Config{Before: int(window) % 3, After: int(window) % 2}, text, 1+int(window))
	})
}

// TestMatchesAcrossLinesAreCountedAsInRipgrep: ripgrep 13.0.0 and 15.0.0 with -U -c count matches,
// not lines, where a pattern may match a line break.
func TestMatchesAcrossLinesAreCountedAsInRipgrep(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          int
	}{
		{"foo", "foo foo\nfoo\n", 2}, {`foo(\nbar)?`, "foo foo\nbar\n", 2}, {`a\n?`, "aaa\na\n", 4}, {`x*\n?`, "ab\nxx\n\n", 5},
		{`\s+`, "a b c\n d\n", 4}, {`^|\n`, "a\nb\n", 3}, {`(?s)a.`, "aba\nab\n", 3}, {`a\nb`, "a\nba\nba\nb\n", 3}, {`\n`, "a\nb\n", 2},
		{`(a|\n)`, "aa\na\n", 5}, {`x*\n?`, "abx", 3}, {`\b\n?`, "ab cd", 3}, {`a\n?|`, "ba\nb", 2},
	} {
		m, err := Compile(Query{Pattern: c.pattern, Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, keep := range []int{0, 100} {
			found, err := NewScanner(m, Config{}).Run(context.Background(), strings.NewReader(c.text), keep)
			if err != nil || found.Count != c.want {
				t.Errorf("%s in %q, %d kept: %d, want %d (%v)", c.pattern, c.text, keep, found.Count, c.want, err)
			}
		}
		acrossAgrees(t, m, c.text, Config{})
	}
}

// A match may begin on the line on which another, of more lines, ended.
func TestAMatchBeginsWhereAnotherOfManyLinesEnded(t *testing.T) {
	for text, want := range map[string]string{
		"TODO\nreturn TODO\n}\nreturn x\n":          "1* 2* 3 4",
		"TODO\nreturn TODO return\n}\n":             "1* 2*",
		"TODO\nreturn TODO\nreturn TODO\nreturn\nx": "1* 2* 3* 4",
		"TODO return TODO\nreturn\n":                "1** 2",
		"a\nTODO\n\nreturn\n\n\nTODO\nreturn":       "2* 3 4 7* 8",
	} {
		m, err := Compile(Query{Pattern: `(?s)TODO.{0,20}?return`, Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		found, err := NewScanner(m, Config{}).Run(context.Background(), strings.NewReader(text), 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range found.Lines {
			got = append(got, fmt.Sprintf("%d%s", l.Number, strings.Repeat("*", int(l.Starts))))
		}
		if s := strings.Join(got, " "); s != want || found.Count != strings.Count(want, "*") {
			t.Errorf("%q: %s (%d), want %s", text, s, found.Count, want)
		}
	}
}

// One large buffer serves all files of a query, and is as long as the file wants it.
func TestTheLargeBufferIsMadeOnce(t *testing.T) {
	m, err := Compile(Query{Pattern: "b$"})
	if err != nil {
		t.Fatal(err)
	}
	s := NewScanner(m, Config{})
	text := sized{strings.NewReader(strings.Repeat("a", 1300<<10) + "b")}
	var before []byte
	for round := range 3 {
		text.Seek(0, 0)
		f, err := s.Run(context.Background(), text, 1)
		if err != nil || f.Count != 1 {
			t.Fatal(fmt.Sprint(f.Count), err)
		}
		large := <-m.large
		if len(large) < 1300<<10 || len(large) > 1400<<10 {
			t.Errorf("the buffer has %d bytes", len(large))
		}
		if round > 0 && &large[0] != &before[0] {
			t.Error("it was made again")
		}
		before = large
		m.large <- large
		if len(s.buf) > s.window {
			t.Errorf("%d bytes are kept by the scanner itself", len(s.buf))
		}
	}
}

type sized struct{ *strings.Reader }

// TestALineThatIsTooLong gives up the file, whatever matched before the line.
func TestALineThatIsTooLong(t *testing.T) {
	for text, want := range map[string]Reason{
		"foo\n" + strings.Repeat("a", 300) + "\nfoo": TooLarge,
		"foo\nfoo\n" + strings.Repeat("a", 300):      TooLarge,
		"foo\n" + strings.Repeat("a", 200) + "\nfoo": Searched,
	} {
		m, err := Compile(Query{Pattern: "foo"})
		if err != nil {
			t.Fatal(err)
		}
		s := NewScanner(m, Config{Before: 1})
		s.first, s.window, s.maxLine = 32, 64, 256
		f, err := s.Run(context.Background(), strings.NewReader(text), 9)
		if err != nil || f.Skip != want || want == TooLarge && f.Count > 0 || want == Searched && f.Count != 2 {
			t.Errorf("%d bytes: %+v, %v", len(text), f, err)
		}
	}
}
