package text

import (
	"strings"
	"testing"
)

func TestOutputDecodesWhatProgramsMix(t *testing.T) {
	wide := func(e Encoding, bom bool, s string) string {
		f := Format{Encoding: e, BOM: bom}
		b, err := f.Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		return f.mark() + string(b)
	}
	for name, c := range map[string]struct{ in, want, encodings string }{
		"utf-8":              {"grüße\n", "grüße\n", ""},
		"latin-1":            {"gr\xfc\xdfe\n", "grüße\n", "latin-1"},
		"windows-1252":       {"\x84gr\xfc\xdfe\x93 \x80 5\n", "„grüße“ € 5\n", "windows-1252"},
		"mixed lines":        {"grüße\ngr\xfc\xdfe\nplain\n", "grüße\ngrüße\nplain\n", "latin-1"},
		"utf-16 with a mark": {wide(UTF16LE, true, "grüße\nzwei\n"), "grüße\nzwei\n", "utf-16le"},
		"big endian":         {wide(UTF16BE, true, "grüße\nzwei\n"), "grüße\nzwei\n", "utf-16be"},
		"utf-16 without":     {wide(UTF16LE, false, "one\r\ntwo\r\n"), "one\r\ntwo\r\n", "utf-16le"},
		"not latin":          {wide(UTF16LE, true, "привет мир\n"), "привет мир\n", "utf-16le"},
		"in the middle":      {"$ type a\n" + wide(UTF16LE, true, "first\nsecond\n") + "exit 0\n", "$ type a\nfirst\nsecond\nexit 0\n", "utf-16le"},
		"binary":             {"\x7fELF\x01\x02\x00\x00\x03\xff\x00\x05", "\x7fELF\x01\x02\x00\x00\x03\xff\x00\x05", ""},
		"a list with NUL":    {"a.go\x00b.go\x00c.go\x00", "a.go\x00b.go\x00c.go\x00", ""},
		"one letter each":    {"a\x00b\x00c\x00\n", "a\x00b\x00c\x00\n", ""},
		"broken utf-8":       {"größer als \xff schön\n", "größer als \xff schön\n", ""},
	} {
		got, encodings := Output([]byte(c.in))
		var names []string
		for _, e := range encodings {
			names = append(names, string(e))
		}
		if got != c.want || strings.Join(names, " ") != c.encodings {
			t.Errorf("%s: %q, %v", name, got, names)
		}
	}
}
