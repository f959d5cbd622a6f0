package edit

import (
	"testing"
	"unicode/utf8"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
)

// FuzzEditor plays random keys: the cursor stays between characters and inside of what is drawn.
func FuzzEditor(f *testing.F) {
	f.Add("héllo 日本\n👩‍💻 می\u200cخواهم e\u0301", []byte("lrudLRbdwkx\n"), 20)
	f.Add("🇩🇪🇩🇪\u200d", []byte("llbbxx"), 10)
	f.Fuzz(func(t *testing.T, text string, keys []byte, w int) {
		w = 10 + (w&0xff)%60
		var e Editor
		e.Insert(text)
		for _, k := range keys[:min(len(keys), 200)] {
			press(&e, k, w)
			if e.Cursor < 0 || e.Cursor > len(e.Text) || e.Cursor < len(e.Text) && !utf8.RuneStart(e.Text[e.Cursor]) {
				t.Fatalf("cursor at %d of %q", e.Cursor, e.Text)
			}
			if safeterm.Clean(e.Text).String() != e.Text {
				t.Fatalf("text is not clean: %q", e.Text)
			}
			rows, x, y := e.Rows(draw.Bare(), w)
			if y < 0 || y >= len(rows) || x < 0 || x >= w {
				t.Fatalf("cursor at %d,%d of %d rows, width %d, in %q", x, y, len(rows), w, e.Text)
			}
		}
	})
}

func press(e *Editor, k byte, w int) {
	switch k {
	case 'l':
		e.MoveTo(e.Previous())
	case 'r':
		e.MoveTo(e.Right())
	case 'u':
		e.Vertical(w, -1)
	case 'd':
		e.Vertical(w, 1)
	case 'L':
		e.MoveTo(e.WordLeft())
	case 'R':
		e.MoveTo(e.wordRight())
	case 'b':
		e.Cut(e.Previous(), e.Cursor)
	case 'x':
		e.Cut(e.Cursor, e.Right())
	case 'w':
		e.Cut(e.WordLeft(), e.Cursor)
	case 'k':
		e.Cut(e.Cursor, e.LineEnd())
	default:
		e.Insert(string(rune(k)))
	}
}

// TestEditorDeletesWholeCharacters shows that what looks like one character is one.
func TestEditorDeletesWholeCharacters(t *testing.T) {
	for _, s := range []string{"a", "é", "e\u0301", "👩‍💻", "🇩🇪", "日", "\n"} {
		var e Editor
		e.Insert("x" + s)
		e.Cut(e.Previous(), e.Cursor)
		if e.Text != "x" {
			t.Errorf("%q: %q is left", s, e.Text)
		}
		e.Set("x" + s)
		e.MoveTo(e.Previous())
		e.Cut(e.Cursor, e.Right())
		if e.Text != "x" {
			t.Errorf("%q forward: %q is left", s, e.Text)
		}
	}
}
