package tui

import (
	"testing"
	"unicode/utf8"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// FuzzEditor plays random keys: the cursor stays between characters and inside of what is drawn.
func FuzzEditor(f *testing.F) {
	f.Add("héllo 日本\n👩‍💻 می\u200cخواهم e\u0301", []byte("lrudLRbdwkx\n"), 20)
	f.Add("🇩🇪🇩🇪\u200d", []byte("llbbxx"), 10)
	f.Fuzz(func(t *testing.T, text string, keys []byte, w int) {
		w = 10 + (w&0xff)%60
		var e editor
		e.insert(text)
		for _, k := range keys[:min(len(keys), 200)] {
			press(&e, k, w)
			if e.at < 0 || e.at > len(e.text) || e.at < len(e.text) && !utf8.RuneStart(e.text[e.at]) {
				t.Fatalf("cursor at %d of %q", e.at, e.text)
			}
			if safeterm.Clean(e.text).String() != e.text {
				t.Fatalf("text is not clean: %q", e.text)
			}
			rows, x, y := e.Rows(draw.Bare(), w)
			if y < 0 || y >= len(rows) || x < 0 || x >= w {
				t.Fatalf("cursor at %d,%d of %d rows, width %d, in %q", x, y, len(rows), w, e.text)
			}
		}
	})
}

func press(e *editor, k byte, w int) {
	switch k {
	case 'l':
		e.moveTo(e.left())
	case 'r':
		e.moveTo(e.right())
	case 'u':
		e.vertical(w, -1)
	case 'd':
		e.vertical(w, 1)
	case 'L':
		e.moveTo(e.wordLeft())
	case 'R':
		e.moveTo(e.wordRight())
	case 'b':
		e.cut(e.left(), e.at)
	case 'x':
		e.cut(e.at, e.right())
	case 'w':
		e.cut(e.wordLeft(), e.at)
	case 'k':
		e.cut(e.at, e.lineEnd())
	default:
		e.insert(string(rune(k)))
	}
}

// TestEditorDeletesWholeCharacters shows that what looks like one character is one.
func TestEditorDeletesWholeCharacters(t *testing.T) {
	for _, s := range []string{"a", "é", "e\u0301", "👩‍💻", "🇩🇪", "日", "\n"} {
		var e editor
		e.insert("x" + s)
		e.cut(e.left(), e.at)
		if e.text != "x" {
			t.Errorf("%q: %q is left", s, e.text)
		}
		e.set("x" + s)
		e.moveTo(e.left())
		e.cut(e.at, e.right())
		if e.text != "x" {
			t.Errorf("%q forward: %q is left", s, e.text)
		}
	}
}
