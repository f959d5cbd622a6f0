package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "line %d\n", i+1)
		}
		return b.String()
	}
	spilled := ""
	spill := func(_ context.Context, call CallID, whole string) (string, error) {
		spilled = whole
		return "out/" + string(call) + ".txt", nil
	}
	full := func(context.Context, CallID, string) (string, error) { return "", errors.New("disk full") }
	cases := map[string]struct {
		clip       Clip
		out        string
		text, file string
	}{
		"nothing":             {Clip{Lines: 1, Bytes: 1}, "", "", ""},
		"within":              {Clip{Lines: 3, Bytes: 100}, lines(3), lines(3), ""},
		"no last newline":     {Clip{Lines: 3, Bytes: 100}, "a\nb\nc", "a\nb\nc", ""},
		"one line more":       {Clip{Lines: 2, Bytes: 100}, lines(3), "line 1\nline 2\n(output cut: 1 more line, 7 bytes more)", ""},
		"more without end":    {Clip{Lines: 1, Bytes: 100}, "a\nb\nc", "a\n(output cut: 2 more lines, 3 bytes more)", ""},
		"bytes end on a line": {Clip{Lines: 9, Bytes: 14}, lines(3), "line 1\nline 2\n(output cut: 1 more line, 7 bytes more)", ""},
		"bytes end in a line": {Clip{Lines: 9, Bytes: 20}, lines(3), "line 1\nline 2\n(output cut: 1 more line, 7 bytes more)", ""},
		"exactly the bytes":   {Clip{Lines: 9, Bytes: 21}, lines(3), lines(3), ""},
		"spilled":             {Clip{Lines: 2, Bytes: 100, Spill: spill}, lines(3), "line 1\nline 2\n(output cut: 1 more line, 7 bytes more; the whole is in out/c.txt; read it with offset 3)", "out/c.txt"},
		"spill fails":         {Clip{Lines: 2, Bytes: 100, Spill: full}, lines(3), "line 1\nline 2\n(output cut: 1 more line, 7 bytes more; the whole could not be saved: disk full)", ""},
		"one huge line":       {Clip{Lines: 9, Bytes: 4, Spill: spill}, "aaaaaaaa\nb\n", "aaaa\n(output cut: 2 more lines, 7 bytes more; the whole is in out/c.txt; read it with offset 1)", "out/c.txt"},
		"cut at a rune":       {Clip{Lines: 9, Bytes: 4}, "aé€€", "aé\n(output cut: 1 more line, 6 bytes more)", ""},
		"cut before a rune":   {Clip{Lines: 9, Bytes: 3}, "💩💩", "\x00", ""},
		"no rune to cut at":   {Clip{Lines: 9, Bytes: 6}, strings.Repeat("\x80", 10), strings.Repeat("\x80", 6) + "\n(output cut: 1 more line, 4 bytes more)", ""},
		"a huge second line":  {Clip{Lines: 9, Bytes: 10}, "head\n" + strings.Repeat("x", 50), "head\n(output cut: 1 more line, 50 bytes more)", ""},
		"defaults by lines":   {Clip{}, lines(DefaultLines), lines(DefaultLines), ""},
		"empty lines count":   {Clip{Lines: 2, Bytes: 100}, "\n\n\n\n", "\n\n(output cut: 2 more lines, 2 bytes more)", ""},
	}
	// A rune that does not fit at all: nothing whole is left, and bytes are cut.
	c := cases["cut before a rune"]
	c.text = "💩💩"[:3] + "\n(output cut: 1 more line, 5 bytes more)"
	cases["cut before a rune"] = c
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			spilled = ""
			text, file, cut := c.clip.apply(t.Context(), "c", c.out)
			if text != c.text || file != c.file || cut != (c.text != c.out) {
				t.Errorf("%q, file %q, cut %t; want %q, %q", text, file, cut, c.text, c.file)
			}
			if file != "" && spilled != c.out {
				t.Errorf("spilled %q", spilled)
			}
		})
	}
	text, _, cut := Clip{}.apply(t.Context(), "c", strings.Repeat("x\n", DefaultLines+1))
	if !cut || !strings.Contains(text, "1 more line, 2 bytes more") {
		t.Errorf("default lines: cut %t", cut)
	}
	text, _, cut = Clip{}.apply(t.Context(), "c", strings.Repeat("é", DefaultBytes))
	if !cut || len(text) > DefaultBytes+100 || !utf8.ValidString(text) {
		t.Errorf("default bytes: cut %t, %d bytes", cut, len(text))
	}
}

func TestClipKeepsTheReasonOfAFailure(t *testing.T) {
	r := &Runner{Clip: Clip{Lines: 2}}
	x := r.begin(Hydration{})
	o := x.fail(t.Context(), outcomeParts{output: "1\n2\n3\n4\n"}, errors.New("exit status 7"))
	if want := "1\n2\n(output cut: 2 more lines, 4 bytes more)\nexit status 7"; o.Output != want || !o.Truncated {
		t.Errorf("output %q, want %q", o.Output, want)
	}
	x = r.begin(Hydration{})
	o = x.fail(t.Context(), outcomeParts{}, errors.New(strings.Repeat("é", 1<<20)))
	if len(o.Output) > 3*maxFailure {
		t.Errorf("a failure of %d bytes", len(o.Output))
	}
}

func TestClipKeepsWhatAToolBoundedItself(t *testing.T) {
	x := (&Runner{Clip: Clip{Lines: 1}}).begin(Hydration{})
	for _, out := range []string{"tail", "a\nb\n"} {
		p := x.clip(t.Context(), outcomeParts{output: out, truncated: true, outputFile: "job.txt"})
		if !p.truncated || p.outputFile != "job.txt" {
			t.Errorf("%q: %+v", out, p)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("line 1\nline 2\nline 3", 2, 100)
	f.Add("\n\n\n", 1, 1)
	f.Add("é€💩\xff\x80", 9, 3)
	f.Add("one huge line", 1, 1)
	f.Fuzz(func(t *testing.T, out string, lines, size int) {
		lines, size = 1+abs(lines)%50, 1+abs(size)%200
		var whole string
		c := Clip{Lines: lines, Bytes: size, Spill: func(_ context.Context, _ CallID, all string) (string, error) {
			whole = all
			return "FILE", nil
		}}
		text, file, cut := c.apply(t.Context(), "c", out)
		if !cut {
			if text != out || file != "" || len(out) > size || countLines(out) > lines {
				t.Fatalf("not cut: %q", text)
			}
			return
		}
		kept, note, found := strings.Cut(text, "\n(output cut: ")
		if i := strings.LastIndex(text, "\n(output cut: "); i >= 0 {
			kept, note = text[:i], text[i+len("\n(output cut: "):]
		}
		if !found || whole != out || file != "FILE" || !strings.HasPrefix(out, kept) {
			t.Fatalf("cut %q to %q", out, text)
		}
		if len(kept) > size || countLines(kept) > lines {
			t.Fatalf("kept %d bytes, %d lines", len(kept), countLines(kept))
		}
		end := bounded(out, lines, size)
		if end == 0 || strings.TrimSuffix(out[:end], "\n") != kept {
			t.Fatalf("no progress: %q of %q", kept, out)
		}
		if utf8.ValidString(out) && size >= utf8.UTFMax && !utf8.ValidString(kept) {
			t.Fatalf("cut inside a rune: %q", kept)
		}
		if out[end-1] != '\n' && strings.Contains(out[:end], "\n") {
			t.Fatalf("a line after the first was cut inside: %q", kept)
		}
		if want := fmt.Sprintf("read it with offset %d)", strings.Count(out[:end], "\n")+1); !strings.HasSuffix(note, want) {
			t.Fatalf("note %q, want %q", note, want)
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}
