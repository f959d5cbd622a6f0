package draw

import (
	"slices"
	"strings"
	"testing"
)

// TestBareIsWords shows what is read out where no attributes are: words and indentation, no lines.
func TestBareIsWords(t *testing.T) {
	got := drawn(Bare(), 40, `# Title
a ~~b~~ **c** [d](e)

| Name | Size |
|------|-----:|
| a.go | 12 |
| b.go | |

- [x] one
- [ ] two
  1. three

> quote

***

`+"```go\nx := 1\n```")
	want := `Title
a (deleted: b) c d (e)

Name: a.go
Size: 12

Name: b.go

done: one
not done: two
  1. three

> quote

---

go code:
    x := 1`
	if got != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", got, want)
	}
}

func drawn(t *Theme, w int, text string) string {
	var p Prose
	p.Add(text)
	p.End()
	return plain(p.Rows(t, w))
}

// TestLongTable shows that a table whose columns were settled goes on with them.
func TestLongTable(t *testing.T) {
	rows := strings.Split(drawn(Color(), 60, "a|b\n-|-\n"+strings.Repeat("1|2\n", 100)+"longer|than what was before\n"), "\n")
	got := []string{rows[0], rows[2], rows[101], rows[len(rows)-1]}
	want := []string{"a                    │ b", "1                    │ 2", "1                    │ 2",
		"longer               │ than what was before"}
	if len(rows) != 103 || !slices.Equal(got, want) {
		t.Errorf("%d rows: %q", len(rows), got)
	}
}

// TestMarksOfItems shows that an item's mark stands before whatever its first block is.
func TestMarksOfItems(t *testing.T) {
	got := drawn(Color(), 40, "- ```go\n  x\n  ```\n- ```\n  y\n  ```\n- # h\n- > q\n- a|b\n  -|-\n- ***\n-\n1. - [x] z\n   - - w\n- <b>\n")
	want := `• │ x
• │ y
• h
• ▎ q
• a │ b
  ──┼──
• ──────────────────────────────────────
• 
1. ☑ z
   ◦ • w
• <b>`
	if got != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", got, want)
	}
}

// TestReferencesStaySafe shows that what a character reference or a link brings in is made safe as
// all text.
func TestReferencesStaySafe(t *testing.T) {
	for in, want := range map[string]string{
		"&#27;[31mred&#x9b;1m&#8238;x&#10;y":          "[31mred›1mx y",
		"[a](http://b&#8238;c)":                       "a (http://b<U+202E>c)",
		"![a&#13;](<b&#27;]8;;>)":                     "image: a (b<U+001B>]8;;)",
		"<http://a\u202e.b>":                          "http://a.b",
		"|a&#27;|\n|-|\n|&#27;b|":                     "a\n─\nb",
		"```a&#27;\n&#27;\n```":                       "│ &#27;",
		"[https://good.example](https://bad.example)": "https://good.example (https://bad.example)",
	} {
		if got := drawn(Color(), 60, in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestTableBelowLongText shows that the header of a table is never drawn as the end of the text
// before it.
func TestTableBelowLongText(t *testing.T) {
	header := strings.Repeat("a column | ", 30)
	for n := range 30 {
		text := strings.Repeat("some words of a text\n", 10+n) + header + "\n" + strings.Repeat("-|", 30) + "\n" + strings.Repeat("1|", 30)
		if got := drawn(Bare(), 24, text); !strings.HasSuffix(got, "\na column: 1\na column: 1") {
			t.Fatalf("%d lines before it:\n%s", 10+n, got)
		}
	}
}
