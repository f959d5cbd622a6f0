package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHiddenCharactersAreShown(t *testing.T) {
	for text, want := range map[string]string{
		"plain – “text” 日本 👩\u200d💻 می\u200cخواهم": "plain – “text” 日本 👩\u200d💻 می\u200cخواهم",
		"if a\u202e b\u2066c":     "if a<U+202E> b<U+2066>c",
		"x\U000E0041\U000E007Fy":  "x<U+E0041><U+E007F>y",
		"x\U000E0100\u2062\ufeff": "x<U+E0100><U+2062><U+FEFF>",
		"❤\ufe0f \u200fשלום\u200e ภาษา\u200bไทย": "❤\ufe0f \u200fשלום\u200e ภาษา\u200bไทย",
		"\xe2\x80": "\xe2\x80", "a\x1b]0;x\x07b\x9b\u009b\x7f": "a<U+001B>]0;x<U+0007>b\x9b<U+009B><U+007F>",
		"pass\u200bword\u3164\u115f": "pass<U+200B>word<U+3164><U+115F>", "ไ\u200b": "ไ<U+200B>", "a\tb\r\n\f": "a\tb\r\n\f",
		"<U+202E>": "<U+202E>",
	} {
		if got := ShownHidden(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"a<U+202E>b<U+E0041>": "a\u202eb\U000E0041", "<U+0041> <U+202e> <U+ <U+202E": "<U+0041> <U+202e> <U+ <U+202E", "": "",
	} {
		if got := TakenHidden(text); got != want {
			t.Errorf("%q is taken as %q, want %q", text, got, want)
		}
	}
}

// FuzzHidden: what is shown hides nothing, and is taken back as it was.
func FuzzHidden(f *testing.F) {
	f.Add("a\u202eb\U000E0041 <U+2066> \xf3\xa0")
	f.Fuzz(func(t *testing.T, s string) {
		shown := ShownHidden(s)
		if strings.IndexFunc(shown, func(r rune) bool { return Hidden(r) && r != zeroWidthSpace }) >= 0 || ShownHidden(shown) != shown {
			t.Fatalf("%q still hides something", shown)
		}
		if utf8.ValidString(s) && !strings.Contains(s, "<U+") && TakenHidden(shown) != s {
			t.Fatalf("%q is shown as %q and taken back as %q", s, shown, TakenHidden(shown))
		}
	})
}
