package lsp

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// FuzzPositions compares offsets with a slow count of code units.
func FuzzPositions(f *testing.F) {
	f.Add("a\né😀x\r\n\n", 1, 3)
	f.Fuzz(func(t *testing.T, text string, line, char int) {
		if line < 0 || char < 0 || line > 1000 || char > 10000 {
			return
		}
		text = strings.ToValidUTF8(text, "?")
		for _, enc := range []string{utf8Columns, utf16Columns} {
			at := offset(text, position{line, char}, enc)
			if at < 0 || at > len(text) {
				t.Fatalf("offset %d of %d", at, len(text))
			}
			l := lineAt(text, line)
			in := at - lineStart(text, line)
			if in < 0 || in > len(l) {
				t.Fatalf("column %d of %q", in, l)
			}
			units := in
			if enc == utf16Columns {
				units = len(utf16.Encode([]rune(l[:in])))
			}
			if got := column(l, in, enc); got != units {
				t.Fatalf("column %d, want %d", got, units)
			}
			if full := column(l, len(l), enc); char <= full && enc == utf16Columns && (units < char || units > char+1) {
				t.Fatalf("unit %d of %q lies at %d", char, l, units)
			}
		}
	})
}

func TestNamesInALine(t *testing.T) {
	for _, c := range []struct {
		line, name string
		want       int
	}{
		{"func (s *Set) Get() {", "Get", 14}, {"getter := get()", "get", 10}, {"x.Get(Getter)", "Get", 2}, {"a", "b", -1}, {"\tx := 1", "", 1},
		{"fmt.Println(a)", "fmt.Println", 4}, {"Println(a)", "fmt.Println", 0}, {"é.b", "b", 3}, {"aab ab", "ab", 4}, {"", "", -1}, {"+", "+", 0},
	} {
		if got := nameAt(c.line, c.name); got != c.want {
			t.Errorf("%q in %q at %d, want %d", c.name, c.line, got, c.want)
		}
	}
}

func TestEditsThatCannotBe(t *testing.T) {
	at := func(a, b int) span { return span{position{0, a}, position{0, b}} }
	if _, err := applied("abcdef", []textEdit{{at(0, 3), "x"}, {at(2, 4), "y"}}, utf8Columns); err == nil {
		t.Error("edits that overlap were made")
	}
	if _, err := applied("abcdef", []textEdit{{at(3, 1), "x"}}, utf8Columns); err == nil {
		t.Error("an edit that ends before it begins was made")
	}
	if got, err := applied("abc", []textEdit{{at(3, 3), "!"}, {at(0, 0), ">"}, {at(1, 2), ""}}, utf16Columns); err != nil || got != ">ac!" {
		t.Errorf("%q %v", got, err)
	}
}

func TestURIs(t *testing.T) {
	for _, path := range []string{"/a/b.go", "/a b/ü#?.go", "/c%20d/x"} {
		if got := pathOf(uriOf(path)); got != path {
			t.Errorf("%q became %q", path, got)
		}
	}
	for _, uri := range []string{"http://x/y", "file://host/x", "untitled:1", "", "file:relative", "%zz"} {
		if got := pathOf(uri); got != "" {
			t.Errorf("%q is %q", uri, got)
		}
	}
	if same("file:///a%3Ab") != same("file:///a:b") {
		t.Error("two spellings of one file are two")
	}
}
