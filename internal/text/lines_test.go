package text

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func everything(offset, limit int) Want {
	return Want{Offset: offset, Limit: limit, Bytes: 1 << 30, Width: 1 << 20}
}

// Random files, ranges and a kept index give what splitting the text gives.
func TestReadEqualsSplitting(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		var b strings.Builder
		size := rng.IntN(3 * block)
		for b.Len() < size {
			b.WriteString(strings.Repeat("x", rng.IntN(1+rng.IntN(300))))
			b.WriteString([]string{"\n", "\n", "\r\n", "\n\n"}[rng.IntN(4)])
		}
		if rng.IntN(2) == 0 {
			b.WriteString("open end")
		}
		lines := strings.Split(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		var index Index
		for range 20 {
			checkRange(t, b.String(), lines, 1+rng.IntN(len(lines)+3), 1+rng.IntN(50), &index)
		}
	}
}

func checkRange(t *testing.T, file string, lines []string, offset, limit int, x *Index) {
	t.Helper()
	got, err := Read(context.Background(), strings.NewReader(file), everything(offset, limit), x)
	if offset > len(lines) {
		if !errors.Is(err, ErrPastEnd) || got.Total != len(lines) {
			t.Fatalf("offset %d of %d lines: %v, total %d", offset, len(lines), err, got.Total)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want := lines[offset-1 : min(len(lines), offset-1+limit)]
	if len(got.Lines) != len(want) || got.Truncated != (offset-1+limit < len(lines)) {
		t.Fatalf("offset %d limit %d of %d: %d lines, more %v", offset, limit, len(lines), len(got.Lines), got.Truncated)
	}
	for i := range want {
		if got.Lines[i].Text != want[i] {
			t.Fatalf("line %d: %q, want %q", offset+i, got.Lines[i].Text, want[i])
		}
	}
	if !got.Truncated && got.Total != len(lines) {
		t.Fatalf("total %d, want %d", got.Total, len(lines))
	}
}

func TestReadBounds(t *testing.T) {
	file := strings.Repeat("ä", 5000) + "\nshort\nlast"
	got, err := Read(context.Background(), strings.NewReader(file), Want{Offset: 1, Limit: 10, Bytes: 100, Width: 20}, nil)
	if err != nil || len(got.Lines) != 3 {
		t.Fatalf("%+v %v", got, err)
	}
	if first := got.Lines[0]; first.Text != strings.Repeat("ä", 20) || first.Cut != 2*4980 {
		t.Errorf("got %q, cut %d", first.Text, first.Cut)
	}
	got, err = Read(context.Background(), strings.NewReader("aaaa\nbbbb\ncccc\n"), Want{Offset: 1, Limit: 10, Bytes: 11, Width: 20}, nil)
	if err != nil || len(got.Lines) != 2 || !got.Truncated || got.Total != -1 || got.Bytes != 10 {
		t.Errorf("%+v %v", got, err)
	}
	got, err = Read(context.Background(), strings.NewReader("a long first line\nb\n"), Want{Offset: 1, Limit: 10, Bytes: 4, Width: 20}, nil)
	if err != nil || len(got.Lines) != 1 || !got.Truncated {
		t.Errorf("the first line must come whatever its size: %+v %v", got, err)
	}
}

func TestReadAborts(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, offset := range []int{1, 2} {
		if _, err := Read(ctx, strings.NewReader("a\nb\n"), everything(offset, 1), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("offset %d: got %v", offset, err)
		}
	}
}

func TestReadHoldsLittle(t *testing.T) {
	path := bigFile(t, 64<<20)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Read(context.Background(), f, everything(800_000, 100), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	if held := got.AllocedBytesPerOp(); held > 1<<20 {
		t.Errorf("a read of 100 lines took %d bytes of memory", held)
	}
}

func bigFile(t testing.TB, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "big.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "line %d of a file with some words in it to be\n", i)
	}
	for range size >> 20 {
		if _, err := f.WriteString(b.String()); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func BenchmarkReadFarRange(b *testing.B) {
	f, err := os.Open(bigFile(b, 128<<20))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var index Index
	for name, x := range map[string]*Index{"first": nil, "second": &index} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Read(context.Background(), f, everything(1_000_000, 100), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
