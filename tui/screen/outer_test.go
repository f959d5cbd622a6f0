package screen

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"adze/internal/text/safeterm"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestOuterSequences(t *testing.T) {
	text := safeterm.Clean("a\x1b]0;evil\a b")
	encoded := base64.StdEncoding.EncodeToString([]byte("a b"))
	for _, c := range []struct{ name, got, want string }{
		{"copy", OuterFor(env()).Copy(text), "\x1b]52;c;" + encoded + "\a"},
		{"copy in tmux", OuterFor(env("TMUX", "/tmp/x,1,0")).Copy(text),
			"\x1b]52;c;" + encoded + "\a" + "\x1bPtmux;\x1b\x1b]52;c;" + encoded + "\a\x1b\\"},
		{"notify", OuterFor(env("TERM", "xterm-256color")).Notify(NoteAsk), "\x1b]9;adze asks for your permission\a"},
		{"notify kitty", OuterFor(env("TERM", "xterm-kitty")).Notify(NoteDone), "\x1b]99;;adze is done\x1b\\"},
		{"notify on the console", OuterFor(env("TERM", "linux")).Notify(NoteDone), "\a"},
		{"notify rxvt", OuterFor(env("TERM", "rxvt-unicode")).Notify(NoteDone), "\x1b]777;notify;adze;adze is done\a"},
		{"copy in tmux over ssh", OuterFor(env("TERM", "tmux-256color")).Copy(text),
			"\x1b]52;c;" + encoded + "\a" + "\x1bPtmux;\x1b\x1b]52;c;" + encoded + "\a\x1b\\"},
		{"copy in screen", OuterFor(env("STY", "1.pts", "TERM", "screen")).Copy(text), "\x1bP\x1b]52;c;" + encoded + "\a\x1b\\"},
		{"notify in screen", OuterFor(env("STY", "1.pts", "TERM", "screen")).Notify(NoteDone), "\x1bP\x1b]9;adze is done\a\x1b\\"},
		{"notify in tmux", OuterFor(env("TMUX", "x")).Notify(NoteDone), "\x1bPtmux;\x1b\x1b]9;adze is done\a\x1b\\"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestNothingIsWrittenInTheBackground: a program that has the terminal meanwhile must not see our
// sequences.
func TestNothingIsWrittenInTheBackground(t *testing.T) {
	var out bytes.Buffer
	s := &Screen{out: &out, lost: make(chan struct{})}
	if err := s.enter(); err != nil {
		t.Fatal(err)
	}
	s.Notify(Outer{}, NoteDone)
	if !strings.Contains(out.String(), "adze is done") {
		t.Errorf("wrote %q", out.String())
	}
	s.Suspend()
	out.Reset()
	s.Notify(Outer{}, NoteDone)
	s.Copy(Outer{}, safeterm.Clean("x"))
	if out.Len() > 0 {
		t.Errorf("wrote %q in the background", out.String())
	}
}

// TestScreenGetsPieces: joined, the pieces that GNU screen passes on are the sequence.
func TestScreenGetsPieces(t *testing.T) {
	seq := Outer{}.Copy(safeterm.Clean(strings.Repeat("long ", 300)))
	var joined string
	for _, piece := range strings.SplitAfter(Outer{screen: true}.Copy(safeterm.Clean(strings.Repeat("long ", 300))), "\x1b\\") {
		if len(piece) > 256 {
			t.Errorf("a piece of %d bytes", len(piece))
		}
		joined += strings.TrimSuffix(strings.TrimPrefix(piece, "\x1bP"), "\x1b\\")
	}
	if joined != seq {
		t.Errorf("joined %q, want %q", joined, seq)
	}
}
