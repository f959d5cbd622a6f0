package match

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// TestClassesAreThoseOfUnicode holds what ripgrep's classes and boundaries say of a line.
func TestClassesAreThoseOfUnicode(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{`^\w+$`, []string{"straße", "日本語", "naïve_1", "Ⓐ", "Ⅷ", "a\u0301", "a\u200db", "٣", "क्षि"}, []string{"a-b", "x²", "½", "“a”", ""}},
		{`^\W+$`, []string{"²½", "—", "🙂"}, []string{"ß", "日"}},
		{`^\d+$`, []string{"123", "٣٤", "１２"}, []string{"²", "Ⅷ", "½"}},
		{`^\D+$`, []string{"abcé", "²"}, []string{"٣"}},
		{`^\s+$`, []string{" \t\v\u00a0\u3000\u2003\u0085"}, []string{"\u200b", "a"}},
		{`^\S+$`, []string{"a\u200b"}, []string{"a\u00a0"}},
		{`^[\w-]+$`, []string{"käse-brot"}, []string{"käse brot"}},
		{`^[\w-.]+$`, []string{"käse-brot.de"}, []string{"käse brot"}}, // Go takes it, as JavaScript does
		{`^[\s-.]+$`, []string{" -."}, []string{"a"}},
		{`^[^\w]+$`, []string{"²!"}, []string{"é"}},
		{`^[\W_]+$`, []string{"_—_"}, []string{"é_"}},
		{`^[^\W\d]+$`, []string{"éa"}, []string{"é٣"}},
		{`^[\S]+$`, []string{"é²"}, []string{"\u2003"}},
		{`^[[:alpha:]]+$`, []string{"abc"}, []string{"é"}},
		{`^[a-z\d]+$`, []string{"a٣"}, []string{"é"}},
		{`^\Q\w\E$`, []string{`\w`}, []string{"w", "é"}},
		{`^\\w$`, []string{`\w`}, []string{"é"}},
		{`^[]\w]+$`, []string{"]é"}, []string{"["}},
		{`\bist\b`, []string{"das ist", "ist"}, []string{"éist", "istß", "日ist"}},
		{`\bß\b`, []string{"ß", "a ß b", "“ß”"}, []string{"aß", "ßé"}},
		{`\B`, []string{"日本"}, []string{"é", "日"}},
		{`é\b.`, []string{"é!", "é²"}, []string{"éa", "éé"}},
		{`(?i)\bÄRGER\b`, []string{"ärger", "Ärger!"}, []string{"ärgern"}},
	} {
		m, err := Compile(Query{Pattern: c.pattern})
		if err != nil {
			t.Fatal(err)
		}
		for i, lines := range [][]string{c.yes, c.no} {
			for _, line := range lines {
				s := NewScanner(m, Config{})
				if got := s.matches([]byte(line)); got != (i == 0) {
					t.Errorf("%s on %q: %v", c.pattern, line, got)
				}
				if s.dfa = nil; s.matches([]byte(line)) != (i == 0) {
					t.Errorf("%s on %q without the automaton: %v", c.pattern, line, i != 0)
				}
			}
		}
	}
}

// TestBoundariesAgreeWithRegexp maps each character to an ASCII one of the same kind, for which
// regexp knows the boundaries, and compares the automaton and the machine with it.
func TestBoundariesAgreeWithRegexp(t *testing.T) {
	kinds := map[rune]string{'w': "éß日aक", '1': "٣1１", ' ': " \u00a0", '-': "²—-🙂"}
	atoms := []string{`\b`, `\B`, `\w`, `\W`, `.`, `\d`, `\s`, `^`, `$`}
	tails := []string{"", "", "", "*", "+", "?", "*?", "+?", "{2}"}
	rng := rand.New(rand.NewPCG(5, 6))
	for range rounds(20_000) {
		var text, same strings.Builder
		for range rng.IntN(8) {
			k := []rune{'w', '1', ' ', '-'}[rng.IntN(4)]
			members := []rune(kinds[k])
			text.WriteRune(members[rng.IntN(len(members))])
			same.WriteRune(k)
		}
		pattern := ""
		for range 1 + rng.IntN(4) {
			atom := atoms[rng.IntN(len(atoms))]
			if strings.ContainsAny(atom, "wWds.") {
				atom += tails[rng.IntN(len(tails))]
			}
			pattern += atom
		}
		if rng.IntN(3) == 0 {
			pattern = "(" + pattern + ")|" + atoms[rng.IntN(len(atoms))]
		}
		m, err := Compile(Query{Pattern: pattern})
		if err != nil || !m.bounds {
			continue
		}
		at := regexp.MustCompile(pattern).FindStringIndex(same.String())
		matches := at != nil
		if got, known := newDFA(m.prog).line([]byte(text.String())); known && got != matches {
			t.Fatalf("%s on %q: the automaton says %v", pattern, text.String(), got)
		}
		from, to, ok := newMachine(m.prog, 0).find([]byte(text.String()))
		want, got := "", ""
		if matches {
			want = fmt.Sprint(at)
		}
		if ok {
			got = fmt.Sprint([]int{len([]rune(text.String()[:from])), len([]rune(text.String()[:to]))})
		}
		if got != want {
			t.Fatalf("%s on %q: found at %s, want %s", pattern, text.String(), got, want)
		}
	}
}

// TestMachineAgreesWithRegexp compares both on patterns without boundaries, groups and lines
// included.
func TestMachineAgreesWithRegexp(t *testing.T) {
	patterns := []string{"a|ab", "(a|ab)(c|bcd)?", "a*?b", "(?m)^b$", "(x*)(y*)", "a+a", "^$", "(é|日)+", "", "(a*)+", "b|(?m:^a)"}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 5000 {
		pattern := patterns[rng.IntN(len(patterns))]
		var text strings.Builder
		for range rng.IntN(9) {
			text.WriteString([]string{"a", "b", "c", "x", "y", "é", "日", "\n", "bcd", "\xff"}[rng.IntN(10)])
		}
		tree, _ := syntax.Parse(pattern, syntax.Perl)
		prog, _ := syntax.Compile(tree.Simplify())
		re := regexp.MustCompile(pattern)
		for group := range min(2, re.NumSubexp()+1) {
			at := re.FindStringSubmatchIndex(text.String())
			from, to, ok := newMachine(prog, group).find([]byte(text.String()))
			if ok != (at != nil) || ok && (from != at[2*group] || to != at[2*group+1]) {
				t.Fatalf("%q on %q: %d..%d %v, regexp says %v", pattern, text.String(), from, to, ok, at)
			}
		}
	}
}

func TestTextWithFewNULs(t *testing.T) {
	line := "2026-01-02T03:04:05 INFO the server has started and listens\n"
	log := strings.Repeat(line, 50)
	for name, c := range map[string]struct {
		text string
		want Reason
	}{
		"one in a log":            {log + "ERR\x00OR here\n" + log, Searched},
		"a hole at its start":     {strings.Repeat("\x00", 5000) + "\n" + strings.Repeat(line, 2), Searched},
		"one at the end":          {log + "\x00", Searched},
		"in German":               {strings.Repeat("größer als früher\n", 50) + "a\x00b\n", Searched},
		"many":                    {strings.Repeat(line+"\x00", 50), Binary},
		"NUL-separated names":     {"a.txt\x00b.txt\x00c.txt\x00", Binary},
		"short":                   {"a\x00b\n", Binary},
		"controls":                {"\x00" + strings.Repeat("\x01\x02abc\n", 500), Binary},
		"UTF-16 without a mark":   {strings.Join(strings.Split(log, ""), "\x00"), Binary},
		"other bytes than text's": {"\x00" + strings.Repeat("\xfe\x80\x81", 500), Binary},
	} {
		m, err := Compile(Query{Pattern: "."})
		if err != nil {
			t.Fatal(err)
		}
		f, err := NewScanner(m, Config{}).Run(t.Context(), strings.NewReader(c.text), 1)
		if err != nil || f.Skip != c.want || c.want == Searched && !f.NULs {
			t.Errorf("%s: %q, NULs %v, %v", name, f.Skip, f.NULs, err)
		}
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Pattern: `foo\|bar`}, `alternatives are parted by |`},
		{Query{Pattern: `\<foo\>`}, `the edge of a word is \b`},
		{Query{Pattern: `[a-z&&[^b]]x`}, "are text"}, // ripgrep 13 and 15 intersect
		{Query{Pattern: `\b{start}fn`}, "are text"},  // ripgrep 15
		{Query{Pattern: `\bfoo\b`}, ""},
		{Query{Pattern: `a<b>`}, ""},
		{Query{Pattern: `\\<foo`}, ""},
		{Query{Pattern: `foo.*bar`}, "with multiline"},
		{Query{Pattern: `(foo.+bar)`}, "with multiline"},
		{Query{Pattern: `foo.*`}, ""},
		{Query{Pattern: `(?s)foo.*bar`}, "only with multiline"},
		{Query{Pattern: `foo[\s\S]*bar`}, "only with multiline"},
		{Query{Pattern: `foo.*bar`, Multiline: true}, "(?s) lets it"},
		{Query{Pattern: `(?s)foo.*bar`, Multiline: true}, ""},
		{Query{Pattern: `foo\nbar`, Multiline: true}, `\r?\n matches both`},
		{Query{Pattern: `foo\r`}, "only where a file has it"},
		{Query{Pattern: `foo\(\w+`, Literal: true}, "backslashes included"},
		{Query{Pattern: `C:\temp`, Literal: true}, ""},
	} {
		if got := Hint(c.q); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.q, got, c.want)
		}
	}
}
