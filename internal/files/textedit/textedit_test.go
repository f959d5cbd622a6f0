package textedit

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/text"
)

func source(s string) Source {
	return Source{Name: "f.go", Text: s, Newline: text.Detect([]byte(s)).Newline, Read: true}
}

func apply(t *testing.T, src Source, edits ...Edit) (string, []Span) {
	t.Helper()
	spans, err := Match(src, edits)
	if err != nil {
		t.Fatalf("%q: %v", src.Text, err)
	}
	return Apply(src.Text, spans), spans
}

func TestLadder(t *testing.T) {
	cases := []struct {
		name                 string
		text, old, new, want string
		step                 Step
		all                  bool
	}{
		{name: "exact", text: "a\nb\nc\n", old: "b", new: "B", want: "a\nB\nc\n", step: Exact},
		{name: "exact everywhere", text: "x y x\n", old: "x", new: "z", all: true, want: "z y z\n", step: Exact},
		{name: "new lines take the file's ends", text: "a\r\nb\r\n", old: "b", new: "b\nc", want: "a\r\nb\r\nc\r\n", step: Exact},
		{name: "new lines take the ends near by", text: "a\r\nb\nc\n", old: "b", new: "b\nB", want: "a\r\nb\nB\nc\n", step: Exact},
		{name: "spelled out ends stay", text: "a\nb\n", old: "b", new: "b\r\nc", want: "a\nb\r\nc\n", step: Exact},
		{name: "numbers stripped", text: "one\ntwo\nthree\n", old: " 9  one\n10  two\n", new: " 9  ONE\n10  two\n", want: "ONE\ntwo\nthree\n", step: Numbered},
		{name: "numbers in old alone", text: "one\n\ntwo\n", old: "1  one\n2\n3  two", new: "one\ntwo", want: "one\ntwo\n", step: Numbered},
		{name: "line ends ignored", text: "a\r\nb\r\nc\r\n", old: "a\nb\n", new: "A\nb\n", want: "A\r\nb\r\nc\r\n", step: LineEnds},
		{name: "line ends of the other kind", text: "a\nb\nc\n", old: "a\r\nb", new: "A\r\nB", want: "A\nB\nc\n", step: LineEnds},
		{name: "re-indented deeper", text: "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", old: "if x {\n    y()\n}", new: "if x {\n    z()\n    y()\n}",
			want: "func f() {\n\tif x {\n\t\tz()\n\t\ty()\n\t}\n}\n", step: Indented},
		{name: "re-indented to spaces", text: "    def f():\n        return 1\n", old: "def f():\n\treturn 1", new: "def f():\n\tif x:\n\t\treturn 2\n\treturn 1",
			want: "    def f():\n        if x:\n            return 2\n        return 1\n", step: Indented},
		{name: "trailing blanks", text: "a  \nb\n", old: "a\nb", new: "a\nc", want: "a  \nc\n", step: Spaced},
		{name: "quotes", text: "say “hi” – now\n", old: `say "hi" - now`, new: `say "hi" - later`, want: "say “hi” – later\n", step: Normalised},
		{name: "no-break space", text: "10\u00a0km far\n", old: "10 km far", new: "10 km near", want: "10\u00a0km near\n", step: Normalised},
		{name: "double escapes", text: "p(\"a\")\nq()\n", old: `p(\"a\")\nq()`, new: `p(\"b\")\nq()`, want: "p(\"b\")\nq()\n", step: Unescaped},
		{name: "entities", text: "if a < b && c\n", old: "if a &lt; b &amp;&amp; c", new: "if a &gt; b &amp;&amp; c", want: "if a > b && c\n", step: Entities},
		{name: "deletion", text: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n", step: Exact},
		{name: "deletion from the line end before", text: "// one of many words\nfunc New() {\n\tx\n", old: "\n\tfunc New() {", new: "", want: "// one of many words\n\tx\n", step: Indented},
		{name: "deletion of a re-indented block", text: "\ta\n\tbb\n\tc\n", old: "  bb\n", new: "", want: "\ta\n\tc\n", step: Indented},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, spans := apply(t, source(c.text), Edit{c.old, c.new, c.all})
			if got != c.want || spans[0].Step != c.step {
				t.Errorf("by %q:\n got %q\nwant %q by %q", spans[0].Step, got, c.want, c.step)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	block := "func a() {\n\tone()\n\ttwo()\n}\n"
	cases := []struct {
		name, text string
		edits      []Edit
		code       string
		says       []string
	}{
		{"many", "x\ny\nx\n", []Edit{{Old: "x", New: "z"}}, ManyMatches, []string{"2 places", "lines 1, 3", "replace_all"}},
		{"overlapping places", "aaa\n", []Edit{{Old: "aa", New: "b"}}, ManyMatches, []string{"2 places"}},
		{"many by indentation", "\tx()\n\ty()\n  x()\n  y()\n", []Edit{{Old: "x()\ny()", New: "z()", All: true}}, ManyMatches, []string{"roughly"}},
		{"none", "alpha\nbeta\n", []Edit{{Old: "qqqq zzzz", New: "b"}}, NoMatch, []string{"nothing there is like it"}},
		{"none but close", block, []Edit{{Old: "\tone()\n\tthree()\n", New: "x"}}, NoMatch, []string{"2  →one()", "line 3 column 3", "yours: →three()", "file:  →two()"}},
		{"a line in a copy without indentation", "\ta {\n\t\tb\n\t}\n", []Edit{{Old: "a {\nb\n}\n", New: "a {\nc\n}\n"}}, NoMatch, []string{"indented"}},
		{"same", "a\n", []Edit{{Old: "a", New: "a"}}, NoChange, nil},
		{"no effect", "a\n\tb\n", []Edit{{Old: "a\nb", New: "a\nb "}}, NoChange, nil},
		{"empty", "a\n", []Edit{{New: "x"}}, InvalidArguments, []string{"empty"}},
		{"overlap", "abc\n", []Edit{{Old: "ab", New: "x"}, {Old: "bc", New: "y"}}, InvalidArguments, []string{"edits 1 and 2 overlap", "line 1"}},
		{"second is missing", "abc\n", []Edit{{Old: "ab", New: "x"}, {Old: "nope", New: "y"}}, NoMatch, []string{"edit 2: "}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spans, err := Match(source(c.text), c.edits)
			refused(t, err, c.code, c.says...)
			if spans != nil {
				t.Errorf("spans %v with an error", spans)
			}
		})
	}
}

func refused(t *testing.T, err error, code string, says ...string) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.ErrorCode() != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	for _, want := range says {
		if !strings.Contains(e.Message, want) {
			t.Errorf("%q does not say %q", e.Message, want)
		}
	}
}

// What stands in the file once is replaced as written, also where that only moves lines.
func TestExactEditsAreDoneAsWritten(t *testing.T) {
	moved := func(s, from, to string) string {
		return to + strings.ReplaceAll(strings.TrimPrefix(s, from), "\n"+from, "\n"+to)
	}
	tried := 0
	for _, s := range sources(t) {
		for at := 0; at+1 < len(s.lines); at++ {
			text := strings.Join(s.lines, "\n") + "\n"
			old := strings.Join(s.lines[at:min(len(s.lines), at+1+at%4)], "\n")
			if strings.TrimSpace(old) == "" || strings.Count(text, old) != 1 {
				continue
			}
			margin := indentOf(old)
			for _, to := range []string{margin + " ", margin + "  ", margin + "\t", margin + " * ", strings.TrimSuffix(margin, " "), strings.TrimSuffix(margin, "\t")} {
				next := moved(old, margin, to)
				if next == old {
					continue
				}
				tried++
				src := source(text)
				src.Read = at%2 == 0
				if got, _ := apply(t, src, Edit{Old: old, New: next}); got != strings.Replace(text, old, next, 1) {
					t.Fatalf("%s: another text came out for\n%s", s.name, old)
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d edits were made", tried)
	}
	small := []struct{ name, text, old, new string }{
		{"a list out by two", "- a\n    - b\n    - c\n", "    - b\n    - c", "  - b\n  - c"},
		{"a list from two to three", "1. a\n  - b\n  - c\n", "  - b\n  - c", "   - b\n   - c"},
		{"a list from three to two", "- a\n   - b\n   - c\n", "   - b\n", "  - b\n"},
		{"Python by one column", "def f():\n     return 1\n", "     return 1", "    return 1"},
		{"the star of a C comment", "/*\n* a\n* b\n*/\n", "* a\n* b\n", " * a\n * b\n"},
		{"a chain from four to six", "x\n    .a()\n    .b()\n", "    .a()\n    .b()", "      .a()\n      .b()"},
		{"a second return of the same", "if a {\n\treturn err\n}\nb()\n", "b()\n", "if b() {\n\treturn err\n}\n"},
		{"a line like the one above", "one()\ntwo()\n", "two()\n", "one()\ntwo()\n"},
		{"a part of a word", "naming\nx\n", "ming\nx", "me\nx"},
	}
	for _, c := range small {
		if got, spans := apply(t, source(c.text), Edit{Old: c.old, New: c.new}); got != strings.Replace(c.text, c.old, c.new, 1) || spans[0].Step != Exact {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// Each line that an edit keeps keeps its own end.
func TestLineEndsAreKeptLineByLine(t *testing.T) {
	cases := []struct{ name, text, old, new, want string }{
		{"a line changed", "a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\r\nB\nc\r\nd\n"},
		{"a line added", "a\r\nb\nc\r\n", "a\nb\nc", "a\nb\nx\nc", "a\r\nb\nx\nc\r\n"},
		{"a line less", "a\nb\r\nc\nd\r\n", "a\nb\nc\nd", "a\nc\nd", "a\nc\nd\r\n"},
		{"re-indented", "\ta\r\n\tb\n\tc\r\n", "a\nb\nc", "a\nB\nc", "\ta\r\n\tB\n\tc\r\n"},
	}
	for _, c := range cases {
		if got, _ := apply(t, source(c.text), Edit{Old: c.old, New: c.new}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Only the middle between two equal end lines differs: other assistants replaced it unseen.
func TestEndLinesAloneNeverMatch(t *testing.T) {
	text := "begin {\n  keep this important line\n  and that one too\n} end\n"
	_, err := Match(source(text), []Edit{{Old: "begin {\n  something else entirely\n  written from memory\n} end\n", New: "gone"}})
	refused(t, err, NoMatch)
}

func TestUnreadFilesGetLiteralMatchesOnly(t *testing.T) {
	src := source("\tif x {\n\t\ty()\n\t}\n")
	src.Read = false
	if _, err := Match(src, []Edit{{Old: "\t\ty()", New: "\t\tz()"}}); err != nil {
		t.Errorf("an exact match needs no read: %v", err)
	}
	_, err := Match(src, []Edit{{Old: "if x {\ny()\n}", New: "z()"}})
	refused(t, err, NotRead, "read it first")
}

func TestStalenessHasThreeAnswers(t *testing.T) {
	seen := "one\ntwo\nthree\nfour\nfive\n"
	changed := func(now string) Source {
		src := source(now)
		src.Changed, src.ReadText = true, seen
		return src
	}
	got, _ := apply(t, changed("ONE\ntwo\nthree\nfour\nfive\n"), Edit{Old: "four", New: "4"})
	if got != "ONE\ntwo\nthree\n4\nfive\n" {
		t.Errorf("a change elsewhere: %q", got)
	}
	_, err := Match(changed("one\ntwo\nthree\nFOUR\nfive\n"), []Edit{{Old: "three\nfour\n", New: "x"}})
	refused(t, err, Stale, "-four", "+FOUR", "read the file again")
	_, err = Match(changed("one\ntwo\nthree\nfour and more\nfive\n"), []Edit{{Old: "four", New: "4"}})
	refused(t, err, Stale, "+four and more")
	_, err = Match(changed("one\ntwo\nthree\nnew\nfour\nfive\n"), []Edit{{Old: "three\nfour", New: "x"}})
	refused(t, err, Stale, "+new")
	_, err = Match(changed("one\nthree\nfour\nfive\n"), []Edit{{Old: "one\ntwo", New: "x"}})
	refused(t, err, Stale, "-two")
	unknown := changed("one\nTWO\n")
	unknown.ReadText = ""
	_, err = Match(unknown, []Edit{{Old: "two", New: "2"}})
	refused(t, err, Stale, "has changed since it was read")
	if _, err = Match(unknown, []Edit{{Old: "TWO", New: "2"}}); err != nil {
		t.Errorf("what is there literally may be edited: %v", err)
	}
}

func TestMultiEditIsAgainstTheOriginal(t *testing.T) {
	got, spans := apply(t, source("a b c\n"), Edit{Old: "c", New: "a"}, Edit{Old: "a", New: "b"}, Edit{Old: "b", New: "c"})
	if got != "b c a\n" || len(spans) != 3 || spans[0].Edit != 1 {
		t.Errorf("got %q %+v", got, spans)
	}
}

func TestNumberingIsUndoneExactly(t *testing.T) {
	lines := []string{"package main", "", "  indented", "7  looks numbered", "\ttab"}
	var shown []string
	for i, line := range lines {
		shown = append(shown, Number(i+8, Width(12), line))
	}
	if got, has := unnumbered(strings.Join(shown, "\n"), "  "); has != extentWhole || got != strings.Join(lines, "\n") {
		t.Errorf("got %q", got)
	}
	for _, plain := range []string{"just text", "3  one\n1  three", "12apples"} {
		if got, has := unnumbered(plain, "  "); has == extentWhole {
			t.Errorf("%q was taken for numbered: %q", plain, got)
		}
	}
}

func TestOmission(t *testing.T) {
	for _, line := range []string{
		"// ... rest of the code unchanged ...", "// rest of code", "# ... existing code ...", "... rest of the file remains the same ...",
		"// existing code here", "<!-- rest of the document unchanged -->", "[rest of the file unchanged]",
		"// ...existing code...", "# (remaining functions stay the same)", "{/* ... existing code ... */}", "-- rest of the file", "[... unchanged ...]",
		"// Keep the rest of the function", "// code omitted for brevity", "// … existing imports …", "(remaining code unchanged)",
	} {
		if Omission("a\n\t"+line+"\nb\n", "") == "" {
			t.Errorf("not noticed: %s", line)
		}
	}
	for _, line := range []string{
		"// Other functions", "// The remaining lines are sorted by name.", "...", "def f(): ...", "// keep the same order as before", "# Existing code",
		"x = rest of", "fmt.Println(\"...\")", "// existing connections stay open", "return [...rest]", "// TODO: handle the rest", "func(args ...string)",
		"The rest of the code is explained in the next chapter, which is about streams.", "// The same functions are used by the parser.", "... and the rest is history",
	} {
		if got := Omission(line, ""); got != "" {
			t.Errorf("taken for an omission: %s", line)
		}
	}
	if got := Omission("// rest of the code", "x\n// rest of the code\n"); got != "" {
		t.Error("a line that was there before is no omission")
	}
}

func TestScanEqualsIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	data := make([]byte, 3*scanBlock+77)
	for i := range data {
		data[i] = "ab\n"[rng.IntN(3)]
	}
	for _, plain := range []string{"ab", "b\n\nb", "aaaa", "\n"} {
		want := 0
		for at := range data[:scanBlock] {
			if bytes.HasPrefix(data[at:], []byte(plain)) {
				want++
			}
		}
		got, err := Scan(context.Background(), bytes.NewReader(data[:scanBlock+len(plain)-1]), []byte(plain), 1)
		if err != nil || len(got) != want {
			t.Errorf("%q: %d places, want %d (%v)", plain, len(got), want, err)
		}
	}
	needle := []byte("abba\nab")
	copy(data[scanBlock-3:], needle) // across a border
	copy(data[2*scanBlock:], needle)
	var want []Hit
	for at := 0; ; at++ {
		i := bytes.Index(data[at:], needle)
		if i < 0 {
			break
		}
		at += i
		want = append(want, Hit{int64(at), bytes.Count(data[:at], []byte("\n"))})
	}
	got, err := Scan(context.Background(), bytes.NewReader(data), needle, 1)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v: %d places, want %d", err, len(got), len(want))
	}
	even, err := Scan(context.Background(), bytes.NewReader([]byte("xabab")), []byte("ab"), 2)
	if err != nil || len(even) != 0 {
		t.Errorf("odd places count: %v %v", even, err)
	}
}

// Whatever the ladder decides, what it leaves out stays, and a place is never guessed: an exact
// unique copy always wins.
func FuzzLadder(f *testing.F) {
	f.Add("func a() {\n\tb()\n}\n", "b()", "c()\nd()", false)
	f.Add("a\r\nb\r\n\r\nc", "a\nb\n", "A\nb\n", false)
	f.Add("1  x\n2  y\n", "1  1  x", "1  z", true)
	f.Add("say “hi”…\n", `say "hi"...`, `say "ho"...`, false)
	f.Add("\tif x {\n\t\ty\n\t}\n", "if x {\n  y\n}", "if x {\n  z\n}", false)
	f.Add("aa\u200baa\n", "aaaa", "b", false)
	f.Fuzz(func(t *testing.T, body, old, next string, all bool) {
		spans, err := Match(source(body), []Edit{{old, next, all}})
		if err != nil {
			return
		}
		end := 0
		for _, s := range spans {
			if s.Start < end || s.End < s.Start || s.End > len(body) {
				t.Fatalf("bad span %+v after %d in %q", s, end, body)
			}
			end = s.End
		}
		if !all && len(spans) != 1 {
			t.Fatalf("%d spans for one place", len(spans))
		}
		if strings.Count(body, old) == 1 && (spans[0].Step != Exact || body[spans[0].Start:spans[0].End] != old) {
			t.Fatalf("%q in %q was found by %q", old, body, spans[0].Step)
		}
		if got := Apply(body, spans); got == body {
			t.Fatal("an edit without effect was accepted")
		}
	})
}
