package vim

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/text/safeterm"
	"adze/tui/edit"
)

// vimCase is what keys make of a text, with | at the cursor.
type vimCase struct{ before, keys, after string }

func vimMoves() []vimCase {
	return []vimCase{
		{"one |two three", "h", "one| two three"},
		{"|one two", "3l", "one| two"},
		{"one tw|o", "l", "one tw|o"},
		{"|one, two", "w", "one|, two"},
		{"|one, two", "W", "one, |two"},
		{"|one two three", "2w", "one two |three"},
		{"one two thr|ee", "b", "one two |three"},
		{"one, two thr|ee", "3B", "|one, two three"},
		{"|one, two", "e", "on|e, two"},
		{"|one, two", "E", "one|, two"},
		{"|a b", "eee", "a |b"},
		{"one\n\nt|wo", "bbb", "|one\n\ntwo"},
		{"one\n\nt|wo", "b", "one\n\n|two"},
		{"|one\n\ntwo", "w", "one\n|\ntwo"},
		{"  one |two", "0", "|  one two"},
		{"  one |two", "^", "  |one two"},
		{"  |one two", "$", "  one tw|o"},
		{"a\nb\n|c", "gg", "|a\nb\nc"},
		{"|a\nb\nc", "G", "a\nb\n|c"},
		{"|a\nb\nc", "2G", "a\n|b\nc"},
		{"|one two", "fo", "one tw|o"},
		{"|one two", "fw", "one t|wo"},
		{"|one two", "tw", "one |two"},
		{"|a.b.c.d", "f.;;", "a.b.c|.d"},
		{"|a.b.c.d", "2f.,", "a|.b.c.d"},
		{"|a.b.c.d", "t.;", "a.|b.c.d"},
		{"a.b.c.|d", "F.;", "a.b|.c.d"},
		{"a.b.c|.d", "T.", "a.b.|c.d"},
		{"long line\nsho|rt", "k", "lon|g line\nshort"},
		{"long lin|e\nab\nlong line", "jj", "long line\nab\nlong lin|e"},
		{"|one", "wx", "on|"},
	}
}

func vimOperators() []vimCase {
	return []vimCase{
		{"one |two three", "dw", "one |three"},
		{"one |two", "dw", "one| "},
		{"one |two\nthree", "dw", "one| \nthree"},
		{"|one two three", "d2w", "|three"},
		{"|one two three four", "2d2w", "|"},
		{"one |two three", "cwx<esc>", "one |x three"},
		{"one |two three", "c2wx<esc>", "one |x"},
		{"on|e two", "cwx<esc>", "on|x two"},
		{"one |two", "de", "one| "},
		{"one two| three", "db", "one | three"},
		{"one |two three", "d$", "one| "},
		{"one |two three", "D", "one| "},
		{"one |two three", "Cx<esc>", "one |x"},
		{"one |two three", "d0", "|two three"},
		{"a(|b, c)", "dt)", "a(|)"},
		{"a(|b, c)", "df)", "a|("},
		{"a\n|b\nc", "dd", "a\n|c"},
		{"a\nb\n|c", "dd", "a\n|b"},
		{"|a\nb\nc", "2dd", "|c"},
		{"|a\nb\nc", "dj", "|c"},
		{"a\nb\n|c", "dk", "|a"},
		{"a\n|b\nc", "dG", "|a"},
		{"a\n|b\nc", "dgg", "|c"},
		{"a\n  |b b\nc", "ccx<esc>", "a\n|x\nc"},
		{"a\n|b\nc", "Sx<esc>", "a\n|x\nc"},
		{"|one two", "xx", "|e two"},
		{"|one two", "9x", "|"},
		{"one| two", "2X", "o| two"},
		{"|one two", "sx<esc>", "|xne two"},
		{"|one\ntwo", "yyp", "one\n|one\ntwo"},
		{"one\n|two", "YP", "one\n|two\ntwo"},
		{"|one two", "ywP", "one| one two"},
		{"|one two", "dwp", "tone| wo"},
		{"|ab", "xp", "b|a"},
		{"|ab", "x3p", "baa|a"},
		{"|a\nb", "ddp", "b\n|a"},
		{"one |two", "yiwP", "one tw|otwo"},
		// objects
		{"one tw|o three", "diw", "one | three"},
		{"one tw|o three", "daw", "one |three"},
		{"one tw|o", "daw", "on|e"},
		{"a.b|c.d e", "diW", "| e"},
	}
}

func vimChanges() []vimCase {
	return []vimCase{
		{"on|e", "ix<esc>", "on|xe"},
		{"on|e", "ax<esc>", "one|x"},
		{"  on|e", "Ix<esc>", "  |xone"},
		{"|one", "Ax<esc>", "one|x"},
		{"a|b\nc", "ox<esc>", "ab\n|x\nc"},
		{"ab\n|c", "Ox<esc>", "ab\n|x\nc"},
		{"|", "ihello<esc>", "hell|o"},
		// change
		{"|abc", "rx", "|xbc"},
		{"|abc", "2rx", "x|xc"},
		{"|aBc", "3~", "AbC|"},
		{"|a\n  b", "J", "a| b"},
		{"|a\nb\nc", "3J", "a b| c"},
		// undo, redo, repeat
		{"|one two three", "dwdwu", "|two three"},
		{"|one two three", "dwdwuu", "|one two three"},
		{"|one two three", "dwdwuu<ctrl+r>", "|two three"},
		{"|one", "Ax y z<esc>u", "on|e"},
		{"|one two three", "dw.", "|three"},
		{"|a.b.c.d", "df...", "|d"},
		{"|one two", "cwx<esc>w.", "x |x"},
		{"|a\nb", "A!<esc>j.", "a!\nb|!"},
		{"|one two three", "dwu.", "|two three"},
		{"|abcdef", "x3.", "|ef"},
		// nothing
		{"|abc", "d<esc>x", "|bc"},
		{"|abc", "dzx", "|bc"},
		{"|abc", "gzx", "|bc"},
		{"|", "xdw~rJiw<esc>", "|w"},
		{"|é 👩‍💻 日本", "wx", "é | 日本"},
		{"|e\u0301a", "x", "|a"},
	}
}

// TestVim plays keys in normal mode.
func TestVim(t *testing.T) {
	for _, c := range slices.Concat(vimMoves(), vimOperators(), vimChanges()) {
		t.Run(c.before+" "+c.keys, func(t *testing.T) {
			e := marked(c.before)
			v := Keys{Enabled: true, mode: normal}
			playVim(&v, e, c.keys)
			if got := e.Text[:e.Cursor] + "|" + e.Text[e.Cursor:]; got != c.after && got != settled(c.after) {
				t.Errorf("%q becomes %q, want %q", c.before, got, c.after)
			}
		})
	}
}

// settled is a wanted text whose cursor, written at the end, is on the last character.
func settled(s string) string {
	e := marked(s)
	v := Keys{Enabled: true, mode: normal}
	v.FixCursor(e)
	return e.Text[:e.Cursor] + "|" + e.Text[e.Cursor:]
}

func marked(s string) *edit.Editor {
	before, after, _ := strings.Cut(s, "|")
	e := edit.New(before+after, len(before))
	return &e
}

// playVim presses keys: <name> is one, every other character is one.
func playVim(v *Keys, e *edit.Editor, keys string) {
	for keys != "" {
		r, n := utf8.DecodeRuneInString(keys)
		s := Stroke{string(r), string(r)}
		if i := strings.IndexByte(keys, '>'); r == '<' && i > 1 {
			s, n = Stroke{keys[1:i], ""}, i+1
		}
		keys = keys[n:]
		if taken, _ := v.Press(e, 40, s); !taken {
			write(e, s)
		}
	}
}

// FuzzVim presses random keys: nothing panics, the cursor stays on a character, and undo leads back
// to where all began.
func FuzzVim(f *testing.F) {
	f.Add("one two\n  three (four) \"five\"", "wdwjp.u")
	f.Add("👩‍💻 e\u0301a 日本\n\nx", "vjdPciwx\x1bJ3~")
	f.Add("", "oabc\x1bO\x1bddG.Vgg>")
	f.Fuzz(func(t *testing.T, text, keys string) {
		if len(text) > 500 {
			return // slow, not different
		}
		first := edit.New(safeterm.Clean(text).String(), 0)
		e := &first
		e.AddUnit("[pasted 1: 9 lines, 17 B]")
		e.MoveTo(len(e.Text))
		start := e.Text
		v := Keys{Enabled: true, mode: normal}
		v.FixCursor(e)
		for i, r := range []rune(keys) {
			s := Stroke{string(r), string(r)}
			switch r {
			case 0x1b:
				s = Stroke{Key: "esc"}
			case 0x12:
				s = Stroke{Key: "ctrl+r"}
			case 0x7f:
				s = Stroke{Key: "backspace"}
			}
			if i > 60 || len(e.Text) > 1<<12 {
				break
			}
			if taken, _ := v.Press(e, 20, s); !taken {
				write(e, s)
			}
			checkVim(t, &v, e, keys)
		}
		v.Reset(e)
		for e.Undo() {
		}
		if e.Text != start {
			t.Fatalf("undo of %q leads from %q to %q", keys, start, e.Text)
		}
	})
}

func checkVim(t *testing.T, v *Keys, e *edit.Editor, keys string) {
	t.Helper()
	if e.Cursor < 0 || e.Cursor > len(e.Text) || v.mode != inserting && snap(e, e.Cursor) != e.Cursor {
		t.Fatalf("after %q the cursor is at %d of %q", keys, e.Cursor, e.Text)
	}
	if safeterm.Clean(e.Text).String() != e.Text {
		t.Fatalf("text is not clean: %q", e.Text)
	}
	if v.mode == normal && e.Cursor == e.LineEnd() && e.Cursor > e.LineStart() {
		t.Fatalf("after %q the cursor is behind the line: %d of %q", keys, e.Cursor, e.Text)
	}
}
