package proc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sandbox/proc"
)

func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want proc.Text
	}{
		"empty":      {"", proc.Text{}},
		"fits":       {"ab\ncd", proc.Text{Head: "ab\ncd", Bytes: 5, Lines: 2}},
		"fits fully": {"0123456789abcdefghi\n", proc.Text{Head: "0123456789abcdefghi\n", Bytes: 20, Lines: 1}},
		"whole lines": {"one\ntwo\nthree\nfour\nfive\nsix\n", proc.Text{
			Head: "one\ntwo\n", Tail: "five\nsix\n", Bytes: 28, Lines: 6, OmittedBytes: 11, OmittedLines: 2}},
		"one long line": {"0123456789abcdefghijKLM", proc.Text{
			Head: "0123456789", Tail: "defghijKLM", Bytes: 23, Lines: 1, OmittedBytes: 3}},
		"runes stay whole": {"123456789é23456789012345é7890", proc.Text{
			Head: "123456789", Tail: "2345é7890", Bytes: 31, Lines: 1, OmittedBytes: 12}},
	} {
		t.Run(name, func(t *testing.T) {
			o := proc.NewOutput(10, 10)
			for _, b := range []byte(c.in) { // byte by byte: the worst way to arrive
				_, _ = o.Write([]byte{b})
			}
			whole := proc.NewOutput(10, 10)
			_, _ = whole.Write([]byte(c.in))
			if diff := cmp.Diff(o.Text(), whole.Text()); diff != "" {
				t.Errorf("chunking matters:\n%s", diff)
			}
			if diff := cmp.Diff(c.want, o.Text()); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestSince(t *testing.T) {
	o := proc.NewOutput(0, 10)
	write := func(s string) { _, _ = o.Write([]byte(s)) }
	write("a\n")
	p := o.Since(proc.Piece{})
	if p.Text != "a\n" || p.SkippedBytes != 0 {
		t.Errorf("first piece %+v", p)
	}
	if p = o.Since(p); p.Text != "" || p.SkippedBytes != 0 {
		t.Errorf("nothing new gives %+v", p)
	}
	write("1\n2\n3\n4\n5\n6\n7\n")
	p = o.Since(p)
	if p.Text != "4\n5\n6\n7\n" || p.SkippedBytes != 6 || p.SkippedLines != 3 {
		t.Errorf("overrun piece %+v", p)
	}
}

// FuzzOutput compares the rings with the whole stream, however it is cut into chunks.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), uint8(2), uint8(3), uint8(1))
	f.Add([]byte("no newline at all, and é and 漢字"), uint8(7), uint8(9), uint8(5))
	f.Add([]byte("\n\n\n\x00\xff\n"), uint8(0), uint8(4), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, head, tail, chunk uint8) {
		o := proc.NewOutput(int(head), int(tail))
		for rest := in; len(rest) > 0; {
			n := min(int(chunk)+1, len(rest))
			_, _ = o.Write(rest[:n])
			rest = rest[n:]
		}
		checkText(t, in, o.Text(), int(head)+int(tail))
		if last := o.Last(int(tail)); !bytes.HasSuffix(in, []byte(last.Tail)) {
			t.Errorf("last %q is not the end of %q", last.Tail, in)
		}
	})
}

func checkText(t *testing.T, in []byte, text proc.Text, kept int) {
	t.Helper()
	omitted := len(in) - len(text.Head) - len(text.Tail)
	if !bytes.HasPrefix(in, []byte(text.Head)) || !bytes.HasSuffix(in, []byte(text.Tail)) || omitted < 0 {
		t.Fatalf("%+v is not the start and end of %q", text, in)
	}
	middle := in[len(text.Head) : len(in)-len(text.Tail)]
	lines := int64(bytes.Count(in, []byte("\n")))
	if len(in) > 0 && !strings.HasSuffix(string(in), "\n") {
		lines++
	}
	if text.Bytes != int64(len(in)) || text.Lines != lines || text.OmittedBytes != int64(len(middle)) ||
		text.OmittedLines != int64(bytes.Count(middle, []byte("\n"))) {
		t.Errorf("wrong counts %+v of %q", text, in)
	}
	if len(text.Head)+len(text.Tail) > kept {
		t.Errorf("kept more than %d bytes: %+v", kept, text)
	}
}
