package input

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
)

// recorder writes down what a parser says, one word an event.
type recorder struct{ words []string }

func (r *recorder) emit(e uv.Event) {
	switch e := e.(type) {
	case uv.KeyPressEvent:
		r.words = append(r.words, e.String())
	case uv.PasteEvent:
		r.words = append(r.words, fmt.Sprintf("paste(%q)", e.Content))
	case uv.MouseWheelEvent:
		r.words = append(r.words, e.String())
	default:
		r.words = append(r.words, strings.TrimPrefix(fmt.Sprintf("%T", e), "uv."))
	}
}

func (r *recorder) String() string { return strings.Join(r.words, " ") }

// play feeds pieces with the same pause before each; a parser that waits less long gives up
// meanwhile.
func play(pause time.Duration, pieces ...string) string {
	var r recorder
	p := Parser{Emit: r.emit, Escape: waitHere}
	for _, piece := range pieces {
		for left := pause; p.Waits() > 0 && p.Waits() <= left; {
			left -= p.Waits()
			p.Expire()
		}
		p.Feed([]byte(piece))
	}
	for p.Waits() > 0 {
		p.Expire()
	}
	return r.String()
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, bytes, want string }{
		{"letters", "aB é", "a B space é"},
		{"one character of many runes", "👩‍💻🇩🇪", "👩‍💻 🇩🇪"},
		{"control", "\r\n\t\x03\x7f\x00", "enter ctrl+j tab ctrl+c backspace ctrl+space"},
		{"arrows", "\x1b[A\x1b[1;5C\x1bOD", "up ctrl+right left"},
		{"escape", "\x1b", "esc"},
		{"escape twice", "\x1b\x1b", "esc esc"},
		{"alt", "\x1bb\x1b\x7f\x1b\r", "alt+b alt+backspace alt+enter"},
		{"alt and arrow", "\x1b\x1b[A", "alt+up"},
		{"alt and bracket", "\x1b[", "alt+["},
		{"shift and enter, kitty", "\x1b[13;2u", "shift+enter"},
		{"shift and enter, xterm", "\x1b[27;2;13~", "shift+enter"},
		{"number block, kitty", "\x1b[57400u\x1b[57414u", "1 enter"},
		{"console", "\x1b[[A\x1b[[E", "f1 f5"},
		{"focus and wheel", "\x1b[I\x1b[O\x1b[<64;10;5M", "FocusEvent BlurEvent wheelup"},
		{"a paste", "\x1b[200~a\r\nb\rc\x1b[d\x03\x1b[201~x", `paste("a\nb\nc\x1b[d\x03") x`},
		{"a paste that holds an end, as tmux 3.3a sends it", "\x1b[200~a\x1b[201~rm x\rb\x1b[201~\r", `paste("a\x1b[201~rm x\nb") enter`},
		{"two pastes", "\x1b[200~a\x1b[201~\r\x1b[200~b\x1b[201~", `paste("a") enter paste("b")`},
		{"a paste that holds a beginning", "\x1b[200~\x1b[200~a\x1b[201~", `paste("\x1b[200~a")`},
		{"an empty paste", "\x1b[200~\x1b[201~", `paste("")`},
		{"unknown", "a\x1b[999zb\x1b]7;x\ac\x1bPq\x1b\\d", "a b c d"},
		{"broken off", "\x1b[1;\x1b[Ax", "up x"},
		{"not UTF-8", "a\xffb\xc3", "a b"},
		{"much text without a paste", strings.Repeat("word ", 20) + "\r", strings.Repeat("word ", 20) + " enter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := play(0, c.bytes); got != c.want {
				t.Errorf("%q is %s, want %s", c.bytes, got, c.want)
			}
		})
	}
}

// TestPieces feeds byte by byte: with pauses shorter than the wait everything is as in one piece.
func TestPieces(t *testing.T) {
	text := "a\x1b[Aé\x1b[200~x\r\ny\x1b[201~\x1b[<65;1;1M日\x1bb\x1b[27u\x1bOA"
	want := play(0, text)
	if got := play(waitHere-1, strings.Split(bytewise(text), "|")...); got != want {
		t.Errorf("byte by byte: %s\nwant %s", got, want)
	}
	for i := range text {
		if got := play(waitHere-1, text[:i], text[i:]); got != want {
			t.Errorf("cut at %d: %s\nwant %s", i, got, want)
		}
	}
}

// TestJoinedCharacters: what is bound to the next character waits for it.
func TestJoinedCharacters(t *testing.T) {
	if got := play(waitHere, "👩\u200d", "💻"); got != "👩‍💻" {
		t.Error(got)
	}
}

func bytewise(s string) string {
	var parts []string
	for _, b := range []byte(s) {
		parts = append(parts, string([]byte{b}))
	}
	return strings.Join(parts, "|")
}

// TestEscapeOnSlowLines: Escape acts after the wait, and the rest of a sequence that was torn is
// not typed.
func TestEscapeOnSlowLines(t *testing.T) {
	for _, c := range []struct{ name, pieces, want string }{
		{"escape, then letters", "\x1b|h|i", "esc h i"},
		{"torn behind the first byte", "\x1b|[A|x", "esc up x"},
		{"torn later", "\x1b[|A|\x1b[1;|5C", "up ctrl+right"},
		{"a paste torn behind the first byte", "\x1b|[200~a|b\x1b|[201~c", `esc paste("ab") c`},
		{"escape, then a bracket", "\x1b|[|x", "esc [ x"},
		{"where Escape has a sequence of its own, nothing is torn", "\x1b[27u|\x1b|[A", "esc up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := play(200*time.Millisecond, strings.Split(c.pieces, "|")...); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	var p Parser
	p.Emit, p.Escape = func(uv.Event) {}, Wait(func(string) string { return "" })
	p.Feed([]byte("\x1b"))
	if w := p.Waits(); w <= 0 || w > time.Second/60 {
		t.Errorf("Escape waits %v, more than a frame", w)
	}
	if w := Wait(func(name string) string { return map[string]string{"SSH_TTY": "/dev/pts/1"}[name] }); w <= waitHere || w > 100*time.Millisecond {
		t.Errorf("Escape waits %v over a network", w)
	}
}

// TestPasteWithoutEnd: ctrl+c alone gets out of it, and the text is kept.
func TestPasteWithoutEnd(t *testing.T) {
	if got, want := play(time.Minute, "\x1b[200~abc", "def", "\x03", "x"), `paste("abcdef") ctrl+c x`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLongPastes: what is below the limit arrives whole and takes little more memory than its size.
func TestLongPastes(t *testing.T) {
	const size = 10 << 20
	var got string
	var tooLong int
	p := Parser{Escape: waitHere, Emit: func(e uv.Event) {
		switch e := e.(type) {
		case uv.PasteEvent:
			got = e.Content
		case TooLong:
			tooLong = e.Bytes
		}
	}}
	paste := func(size int) {
		p.Feed([]byte("\x1b[200~"))
		piece := []byte(strings.Repeat("0123456789abcde\n", 256))
		for range size / len(piece) {
			p.Feed(piece)
		}
		p.Feed([]byte(pasteEnd))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	paste(size)
	runtime.ReadMemStats(&after)
	if len(got) != size || !strings.HasPrefix(got, "0123456789abcde\n0") {
		t.Errorf("%d of %d bytes arrived", len(got), size)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 3*size {
		t.Errorf("a paste of %d bytes took %d", size, used)
	}
	paste(MaxPaste + 4096)
	if tooLong != MaxPaste+4096 || len(got) != size {
		t.Errorf("a paste over the limit is told of as %d bytes", tooLong)
	}
}

// FuzzParser cuts bytes at random: nothing panics, nothing hangs, and without escapes the text
// stays the same.
func FuzzParser(f *testing.F) {
	f.Add("a\x1b[Aé\x1b[200~x\r\ny\x1b[201~\x1b]0;x\x1b\\", uint64(1))
	f.Add("\x1b\x1b\x1bO5P\x9b\xc3\x1bX", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		var typed strings.Builder
		p := Parser{Escape: waitHere, Emit: func(e uv.Event) {
			if k, ok := e.(uv.KeyPressEvent); ok {
				typed.WriteString(k.Text)
			}
		}}
		for rest := text; rest != ""; {
			n := 1 + random.IntN(len(rest))
			p.Feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		for range len(text) + 1 {
			p.Expire()
		}
		if p.Waits() != 0 {
			t.Fatalf("%q is left of %q", p.rest, text)
		}
		plain := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r > 0x7e }) < 0
		if plain && typed.String() != text {
			t.Fatalf("%q became %q", text, typed.String())
		}
	})
}

func BenchmarkKeys(b *testing.B) {
	p := Parser{Escape: waitHere, Emit: func(uv.Event) {}}
	for b.Loop() {
		p.Feed([]byte("a\x1b[A"))
	}
}
