package safeterm

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestForms(t *testing.T) {
	tests := []struct {
		name, in                   string
		clean, output, reveal, one string
	}{
		{"plain", "a b", "a b", "a b", "a b", "a b"},
		{"newline and tab", "a\tb\nc", "a\tb\nc", "a\tb\nc", "a\tb\nc", "a<U+0009>b⏎c"},
		{"colour", "\x1b[31mred\x1b[0m", "red", "red", "<U+001B>[31mred<U+001B>[0m", "<U+001B>[31mred<U+001B>[0m"},
		{"line end", "a\r\nb", "a\nb", "a\nb", "a\nb", "a<U+000D>⏎b"},
		{"progress", "10%\r20%\r30%\ndone", "10%\n20%\n30%\ndone", "30%\ndone",
			"10%<U+000D>20%<U+000D>30%\ndone", "10%<U+000D>20%<U+000D>30%⏎done"},
		{"progress left open", "1\r\x1b[K2\r\x1b[K", "1\n2", "2", "1<U+000D><U+001B>[K2<U+000D><U+001B>[K", ""},
		{"backspace", "ab\bc", "abc", "ac", "ab<U+0008>c", "ab<U+0008>c"},
		{"bidi override", "a\u202eb", "ab", "ab", "a<U+202E>b", "a<U+202E>b"},
		{"zero width", "a\u200bb\ufeff", "ab", "ab", "a<U+200B>b<U+FEFF>", ""},
		{"tags", "a\U000E0041\U000E007F", "a", "a", "a<U+E0041><U+E007F>", ""},
		{"variation selector supplement", "a\U000E0100b", "ab", "ab", "a<U+E0100>b", ""},
		{"invalid", "a\xffb\xc3", "a\ufffdb\ufffd", "a\ufffdb\ufffd", "a\ufffdb\ufffd", "a\ufffdb\ufffd"},
		{"cut character is one replacement, no control", "\xf0\x9dtext", "\ufffdtext", "\ufffdtext", "\ufffdtext", ""},
		{"separators", "a\u2028b\u2029c", "a\nb\nc", "a\nb\nc", "a<U+2028>b<U+2029>c", ""},
		{"delete", "a\x7fb", "ab", "ab", "a<U+007F>b", ""},
		{"noncharacter", "a\uffffb", "ab", "ab", "a<U+FFFF>b", ""},
		{"family emoji", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", "👨<U+200D>👩<U+200D>👧", ""},
		{"heart on fire", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥", "❤<U+FE0F><U+200D>🔥", ""},
		{"joiner between letters", "a\u200db\u200c", "ab", "ab", "a<U+200D>b<U+200C>", ""},
		{"joiner at the start", "\u200d👩", "👩", "👩", "<U+200D>👩", ""},
		{"two selectors carry data", "☀\ufe0f\ufe0e", "☀\ufe0f", "☀\ufe0f", "☀<U+FE0F><U+FE0E>", ""},
		{"selector without emoji", "a\ufe0f", "a", "a", "a<U+FE0F>", ""},
		{"Persian keeps its spelling", "می\u200cخواهم", "می\u200cخواهم", "می\u200cخواهم", "می<U+200C>خواهم", ""},
		{"Hindi keeps its spelling", "क्\u200dष", "क्\u200dष", "क्\u200dष", "क्<U+200D>ष", ""},
		{"backspace takes the joiner too", "👨\u200d👩\bx", "👨\u200d👩x", "👨x", "👨<U+200D>👩<U+0008>x", ""},
		{"hidden after return does not erase", "abc\r\u200b\n", "abc\n", "abc\n", "abc<U+000D><U+200B>\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want(t, "Clean", Clean(tt.in), tt.clean)
			want(t, "Output", Output(tt.in), tt.output)
			want(t, "Reveal", Reveal(tt.in), tt.reveal)
			if tt.one != "" {
				want(t, "Name", Name(tt.in), tt.one)
			}
		})
	}
}

// Every sequence below must leave exactly "[" and "]" of "[...]".
func TestCleanDropsSequences(t *testing.T) {
	sequences := map[string]string{
		"CSI":                       "\x1b[1;2H",
		"CSI private":               "\x1b[?1049h",
		"CSI with intermediate":     "\x1b[1 q",
		"CSI as raw C1":             "\x9b31m",
		"CSI as UTF-8 C1":           "\u009b31m",
		"CSI with controls inside":  "\x1b[3\x07\t1m",
		"OSC title, BEL":            "\x1b]0;owned\a",
		"OSC clipboard, ST":         "\x1b]52;c;cm0gLXJm\x1b\\",
		"OSC link":                  "\x1b]8;;http://x\x1b\\\x1b]8;;\x1b\\",
		"OSC as raw C1":             "\x9d0;owned\x9c",
		"OSC as UTF-8 C1":           "\u009d0;owned\u009c",
		"OSC, character with 9C":    "\x1b]0;✅ owned\a",
		"DCS":                       "\x1bPq#0;2;0\x1b\\",
		"DCS as raw C1":             "\x90+q544e\x9c",
		"APC":                       "\x1b_Gf=100;AAAA\x1b\\",
		"PM":                        "\x1b^message\x1b\\",
		"SOS":                       "\x1bXstring\x1b\\",
		"cancelled OSC":             "\x1b]0;own\x18",
		"substituted DCS":           "\x1bPq\x1a",
		"character set":             "\x1b(0",
		"character set, odd final":  "\x1b([",
		"reset":                     "\x1bc",
		"double escape":             "\x1b\x1b[31m",
		"OSC broken off by CSI":     "\x1b]0;t\x1b[31m",
		"C0":                        "\x00\x01\x05\x07\x0b\x0c\x0e\x0f\x11\x1c\x1f\x7f",
		"C1 alone, raw and encoded": "\x84\x85\x8d\u0084\u0085\u008d",
	}
	for name, seq := range sequences {
		want(t, name, Clean("["+seq+"]"), "[]")
	}
}

// What is never closed hides no more than its line.
func TestUnclosedSequencesEndWithTheLine(t *testing.T) {
	for _, open := range []string{"\x1b]0;", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b[", "\x9d", "\x1b(", "\x1b"} {
		want(t, open, Clean("a"+open+"\nrm -rf /"), "a\nrm -rf /")
	}
	want(t, "letter outside ASCII", Clean("\x1b[12é"), "é")
}

func TestMarksAreBounded(t *testing.T) {
	tower := "o" + strings.Repeat("\u0301", 50) + "k"
	want(t, "prose", Clean(tower), "o"+strings.Repeat("\u0301", maxMarks)+"k")
	if got := Reveal(tower).String(); !strings.HasPrefix(got, "o"+strings.Repeat("\u0301", maxMarks)+"<U+0301>") {
		t.Errorf("Reveal(tower) = %q", got)
	}
}

func TestStreamAtEverySplit(t *testing.T) {
	in := "é\x1b[31m❤\ufe0f\u200d🔥\r\nz\r\x1b]0;t\x1b\\a\u200db\u202e\xf0\x9d👨\u200d👩 o\u0301\xc3"
	whole := Clean(in).String()
	for i := 0; i <= len(in); i++ {
		for j := i; j <= len(in); j++ {
			if got := streamed(in[:i], in[i:j], in[j:]); got != whole {
				t.Fatalf("cut at %d and %d: %q, whole %q", i, j, got, whole)
			}
		}
	}
}

func TestStreamCanBeUsedAgain(t *testing.T) {
	var s Stream
	s.Add("a\u202e")
	s.Add("b\u200b\u200d\x1b[3")
	s.End()
	want(t, "reused", s.Add("again"), "again")
}

func TestTextStaysText(t *testing.T) {
	text := Clean("é\n\nz")
	want(t, "joined lines", Join(text.Lines(), Fixed("|")), "é||z")
	want(t, "slice inside a character", text.Slice(1, 3), "é\n")
	want(t, "slice end inside a character", text.Slice(0, 1), "")
	want(t, "concat", Concat(text.Slice(0, 2), Fixed("="), Name("x\n")), "é=x⏎")
	if text.Len() != 5 || (Text{}).Len() != 0 {
		t.Errorf("Len() = %d", text.Len())
	}
}

func TestPlainTextIsNotCopied(t *testing.T) {
	in := strings.Repeat("plain ASCII text, 40 bytes and a newline\n", 100)
	var s Stream
	var kept Text
	allocs := testing.AllocsPerRun(10, func() {
		kept = Clean(in)
		kept = Reveal(in)
		kept = Output(in)
		kept = s.Add(in)
	})
	if allocs != 0 {
		t.Errorf("%v allocations for plain text, kept %d bytes", allocs, kept.Len())
	}
}

func FuzzSafe(f *testing.F) {
	for _, seed := range []string{
		"plain\n", "\x1b[31mred\x1b[0m", "\x1b]0;t\a\u202e\u200b", "👨\u200d👩\ufe0f", "a\r\nb\rc\bd", "\xf0\x9d\x9b1m", "o\u0301\u0301",
	} {
		f.Add(seed, uint16(1), uint16(3))
	}
	f.Fuzz(func(t *testing.T, in string, i, j uint16) {
		for name, form := range map[string]func(string) Text{"Clean": Clean, "Output": Output, "Reveal": Reveal, "Name": Name} {
			out := form(in)
			checkSafe(t, name, out.String())
			want(t, name+" twice", form(out.String()), out.String())
		}
		if s := Name(in).String(); strings.ContainsAny(s, "\n\t") {
			t.Errorf("Name(%q) = %q breaks the line", in, s)
		}
		a, b := min(int(i), len(in)), min(int(j), len(in))
		a, b = min(a, b), max(a, b)
		if got := streamed(in[:a], in[a:b], in[b:]); got != Clean(in).String() {
			t.Errorf("cut at %d and %d: %q, whole %q", a, b, got, Clean(in))
		}
		checkSafe(t, "Slice", Clean(in).Slice(min(a, Clean(in).Len()), Clean(in).Len()).String())
	})
}

// checkSafe fails on anything a terminal could obey or a user could not see, by a list of its own.
func checkSafe(t *testing.T, name, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("%s: invalid UTF-8: %q", name, out)
	}
	for _, r := range out {
		control := r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r <= 0x9F
		bidi := r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x61C
		tag := r >= 0xE0000 && r <= 0xE0FFF
		if control || bidi || tag || r == 0x200B || r == 0x2060 || r == 0xFEFF {
			t.Errorf("%s lets %U through: %q", name, r, out)
		}
	}
}

func streamed(pieces ...string) string {
	var s Stream
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(s.Add(p).String())
	}
	b.WriteString(s.End().String())
	return b.String()
}

func want(t *testing.T, what string, got Text, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}

func BenchmarkClean(b *testing.B) {
	texts := map[string]string{
		"ascii":   strings.Repeat("the quick brown fox jumps over the lazy dog\n", 1000),
		"latin":   strings.Repeat("Größe über älter, naïve café — “ok”\n", 1000),
		"han":     strings.Repeat("终端只显示文本\n", 1000),
		"colour":  strings.Repeat("\x1b[32mok\x1b[0m  package/name\t0.01s\n", 1000),
		"hostile": strings.Repeat("\x1b]", 20_000),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Clean(text)
			}
		})
	}
}
