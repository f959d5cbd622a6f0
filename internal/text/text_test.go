package text

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	for in, want := range map[string]Format{
		"":                              {Encoding: UTF8, Newline: "\n"},
		"a\nb\n":                        {Encoding: UTF8, EOL: LF, Newline: "\n"},
		"a\r\nb\r\n":                    {Encoding: UTF8, EOL: CRLF, Newline: "\r\n"},
		"a\rb\r":                        {Encoding: UTF8, EOL: CR, Newline: "\r"},
		"a\r\nb\r\nc\n":                 {Encoding: UTF8, EOL: Mixed, Newline: "\r\n"},
		"\xEF\xBB\xBFa":                 {Encoding: UTF8, BOM: true, Newline: "\n"},
		"\xFF\xFEa\x00\r\x00\n\x00":     {Encoding: UTF16LE, BOM: true, EOL: CRLF, Newline: "\r\n"},
		"\xFE\xFF\x00a\x00\n":           {Encoding: UTF16BE, BOM: true, EOL: LF, Newline: "\n"},
		"\xFF\xFE\x00\x00a\x00\x00\x00": {Encoding: UTF32LE, BOM: true, Newline: "\n"},
		"\x00\x00\xFE\xFF\x00\x00\x00a": {Encoding: UTF32BE, BOM: true, Newline: "\n"},
		"na\xEFve caf\xE9":              {Encoding: Latin1, Newline: "\n"},
		"\x93quoted\x94 caf\xE9":        {Encoding: Windows1252, Newline: "\n"},
		"größer für \xFF":               {Encoding: UTF8, Invalid: 1, Newline: "\n"},
	} {
		if got := Detect([]byte(in)); got != want {
			t.Errorf("%q: got %+v, want %+v", in, got, want)
		}
	}
}

// samples returns the same text in every format.
func samples(t *testing.T, text string) map[Format][]byte {
	t.Helper()
	out := map[Format][]byte{}
	for _, enc := range []Encoding{UTF8, UTF16LE, UTF16BE, UTF32LE, UTF32BE, Latin1, Windows1252} {
		for _, bom := range []bool{false, true} {
			f := Format{Encoding: enc, BOM: bom && f8to32(enc)}
			b, err := f.Encode(text)
			if err != nil {
				continue
			}
			out[f] = append([]byte(f.mark()), b...)
		}
	}
	return out
}

func f8to32(e Encoding) bool { return e != Latin1 && e != Windows1252 }

func TestDecodeUndoesEncode(t *testing.T) {
	for _, text := range []string{"", "plain\n", "café ÿ\u00a0", "€ “x”", "日本語 🙂 \U0010FFFF"} {
		for f, b := range samples(t, text) {
			if got := f.Decode(b); got != text {
				t.Errorf("%+v: %q became %q", f, text, got)
			}
		}
	}
}

// Whatever the bytes are, cutting the decoded text anywhere and mapping back gives the offset at
// which the rest begins.
func TestOffsetsFitArbitraryBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		raw := make([]byte, rng.IntN(40))
		for i := range raw {
			raw[i] = "\x00\xD8\xDC\xE9\x80aé\n\xFF"[rng.IntN(10)]
		}
		for f := range samples(t, "") {
			b := append([]byte(f.mark()), raw...)
			text := f.Decode(b)
			for i := range text {
				off := f.Offset(text[:i])
				if got := (Format{Encoding: f.Encoding}).Decode(b[off:]); got != text[i:] {
					t.Fatalf("%+v %q: behind %q comes %q, want %q", f, b, text[:i], got, text[i:])
				}
			}
			if rest := len(b) - int(f.Offset(text)); rest < 0 || rest >= f.unit() {
				t.Fatalf("%+v %q: %d bytes left behind the text", f, b, rest)
			}
		}
	}
}

func TestSingleBytesSurvive(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	f := Format{Encoding: Windows1252}
	back, err := f.Encode(f.Decode(all))
	if err != nil || !bytes.Equal(back, all) {
		t.Errorf("%v: %x", err, back)
	}
}

func TestEncodeNamesWhatIsMissing(t *testing.T) {
	_, err := Format{Encoding: Latin1}.Encode("a→b")
	if err == nil || !strings.Contains(err.Error(), "U+2192") {
		t.Errorf("got %v", err)
	}
}

func TestSniff(t *testing.T) {
	for in, want := range map[string]string{
		"plain text\n":                        "",
		"":                                    "",
		"\xFF\xFEa\x00":                       "",
		"caf\xE9 cr\xE8me br\xFBl\xE9e":       "",
		"BMW is a car":                        "",
		"\x1b[31mred\x1b[0m":                  "",
		"日本語のテキスト":                            "",
		"\x7fELF\x02\x01":                     "ELF executable",
		"PK\x03\x04":                          "ZIP archive (also jar, docx, xlsx)",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR": "PNG image",
		"\xFF\xD8\xFF\xE0\x00\x10JFIF":        "JPEG image",
		"GIF89a\x01\x00\x01\x00":              "GIF image",
		"RIFF\x10\x00\x00\x00WEBPVP8 ":        "WEBP image",
		"%PDF-1.7\n":                          "PDF document",
		"a\x00b":                              "binary data (holds NUL bytes)",
		"h\x00e\x00l\x00l\x00o\x00":           "UTF-16 text without a byte order mark",
		"\x01\x02\x03\x04abc":                 "binary data (57 % of its first bytes are no text)",
	} {
		got := Sniff([]byte(in))
		if got.Name != want || got.Text != (want == "") {
			t.Errorf("%q: got %+v, want %q", in, got, want)
		}
	}
	if k := Sniff([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")); !k.Image() || k.Media != "image/png" {
		t.Errorf("got %+v", k)
	}
}

func TestWithNewlines(t *testing.T) {
	for _, c := range [][3]string{
		{"a\nb\r\nc\rd", "\r\n", "a\r\nb\r\nc\r\nd"}, {"a\r\nb", "\n", "a\nb"}, {"a\nb", "\r", "a\rb"},
	} {
		if got := WithNewlines(c[0], c[1]); got != c[2] {
			t.Errorf("%q with %q: %q", c[0], c[1], got)
		}
	}
}

func TestFormatInWords(t *testing.T) {
	for want, f := range map[string]Format{
		"":                                 {Encoding: UTF8, EOL: LF},
		"utf-16le, CRLF line ends":         {Encoding: UTF16LE, BOM: true, EOL: CRLF},
		"byte order mark, mixed line ends": {Encoding: UTF8, BOM: true, EOL: Mixed},
		"2 bytes that are not UTF-8":       {Encoding: UTF8, Invalid: 2},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, s := range []string{"a\r\nb", "\xFF\xFEa\x00\x00\xD8", "\xEF\xBB\xBFé\xFF", "\x00\x00\xFE\xFF\x00\x11\x00\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		Sniff(b)
		format := Detect(b)
		text := format.Decode(b)
		back, err := format.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(back)) != format.Size(text) {
			t.Fatalf("%+v: size %d, encoded %d", format, format.Size(text), len(back))
		}
		if format.unit() == 1 && !bytes.Equal(append([]byte(format.mark()), back...), b) {
			t.Fatalf("%+v: %q came back as %q", format, b, back)
		}
	})
}
