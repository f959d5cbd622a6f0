package lineread_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"adze/internal/text/lineread"
)

// told is what a reader said at one time.
type told struct {
	text string
	long bool
}

func all(t *testing.T, r *lineread.Reader) (out []told, end error) {
	t.Helper()
	for {
		line, err := r.Next()
		if err != nil && !errors.Is(err, lineread.ErrLong) {
			if line != nil {
				t.Errorf("a line came with %v", err)
			}
			return out, err
		}
		out = append(out, told{string(line), err != nil})
	}
}

// plainly reads the whole text at once.
func plainly(text string, most int, wanted func([]byte) bool) (out []told) {
	for line := range strings.Lines(text) {
		line, _ = strings.CutSuffix(line, "\n")
		switch {
		case wanted != nil && !wanted([]byte(line)):
		case len(line) > most:
			out = append(out, told{line[:most], true})
		default:
			out = append(out, told{line, false})
		}
	}
	return out
}

func FuzzLinesAreThoseOfAPlainReading(f *testing.F) {
	f.Add([]byte("a\n\nbb\r\nlast"), 3, uint16(1), false)
	f.Add([]byte("too long\nshort\n"), 5, uint16(1), false)
	f.Add([]byte("x"), 70<<10, uint16(65535), false)
	f.Add([]byte("unwanted\nxwanted\n"), 4, uint16(9000), true)
	f.Add([]byte("\n"), 0, uint16(0), false)
	f.Add([]byte(strings.Repeat("x", 64<<10)), 70<<10, uint16(0), false) // the input ends where the buffer is full
	f.Fuzz(func(t *testing.T, text []byte, most int, times uint16, choose bool) {
		if most < 0 || most > 1<<20 || len(text)*int(times) > 4<<20 {
			t.Skip()
		}
		// Repeated without what ends its lines, a text of few bytes crosses the buffer.
		whole := string(text) + strings.Repeat(strings.TrimRight(string(text), "\n"), int(times)) + "\n" + string(text)
		var wanted func([]byte) bool
		if choose {
			wanted = func(start []byte) bool { return bytes.HasPrefix(start, []byte("x")) }
		}
		want := plainly(whole, most, wanted)
		for name, in := range map[string]io.Reader{
			"whole": strings.NewReader(whole), "with its end": iotest.DataErrReader(strings.NewReader(whole)), "in halves": iotest.HalfReader(strings.NewReader(whole)),
		} {
			r := lineread.New(in, most)
			r.Wanted = wanted
			got, end := all(t, r)
			if end != io.EOF {
				t.Fatalf("%s: the end was %v", name, end)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s: of %d bytes with lines of at most %d came %d lines, a plain reading gives %d:\n%.300q\n%.300q", name, len(whole), most, len(got), len(want), fmt.Sprint(got), fmt.Sprint(want))
			}
		}
	})
}

func TestAFailureTakesTheLineThatItCuts(t *testing.T) {
	gone := errors.New("gone")
	for _, half := range []string{"half", strings.Repeat("h", 100<<10)} {
		got, end := all(t, lineread.New(io.MultiReader(strings.NewReader("whole\n"+half), iotest.ErrReader(gone)), 1<<20))
		if len(got) != 1 || got[0].text != "whole" || end != gone {
			t.Errorf("got %d lines and %v", len(got), end)
		}
	}
}

func TestALongLineIsToldBeforeItEnds(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	r := lineread.New(in, 10)
	go func() {
		for { // a line that never ends
			if _, err := out.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}()
	if line, err := r.Next(); !errors.Is(err, lineread.ErrLong) || len(line) != 10 {
		t.Errorf("got %d bytes and %v", len(line), err)
	}
}

// endless is a line of so many bytes, then a short one.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return copy(p, "\nshort\n"), io.EOF
	}
	n := min(len(p), e.left)
	e.left -= n
	for i := range p[:n] {
		p[i] = 'x'
	}
	return n, nil
}

func TestOfALongLineNoMoreThanTheBoundIsHeld(t *testing.T) {
	r := lineread.New(&endless{256 << 20}, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, long := r.Next()
	line, err := r.Next()
	runtime.ReadMemStats(&after)
	if !errors.Is(long, lineread.ErrLong) || err != nil || string(line) != "short" {
		t.Fatalf("got %v, then %q and %v", long, line, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("a line of 256 MiB with a bound of 1 took %d MiB", took>>20)
	}
}

// TestTheRestOfALongLine can be read in pieces, and what follows it as if it had been a good one.
func TestTheRestOfALongLine(t *testing.T) {
	for _, long := range []int{11, 64 << 10, 200_000} {
		for _, end := range []string{"\n", "\nnext\n", ""} {
			want := strings.Repeat("abcdefg", long/7+1)[:long]
			r := lineread.New(strings.NewReader("short\n"+want+end), 10)
			if line, err := r.Next(); string(line) != "short" || err != nil {
				t.Fatal(string(line), err)
			}
			got, err := r.Next()
			if !errors.Is(err, lineread.ErrLong) {
				t.Fatal(err)
			}
			if err := r.Remainder(func(p []byte) error { got = append(got, p...); return nil }); err != nil || string(got) != want {
				t.Errorf("%d bytes: %d, %v", long, len(got), err)
			}
			line, err := r.Next()
			if end == "\nnext\n" && string(line) != "next" || end != "\nnext\n" && err != io.EOF {
				t.Errorf("%d bytes, then %q: %q, %v", long, end, line, err)
			}
		}
	}
}
