package fold

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func usual() Limits { return Limits{Head: 2800, Tail: 5200, HeadLines: 500, TailLines: 1450} }

func lines(n int, each func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(each(i) + "\n")
	}
	return b.String()
}

func TestRepetitionIsFoldedWithItsCount(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
		most int
	}{
		"equal lines": {"start\n" + strings.Repeat("same line\n", 20_000) + "end\n", []string{"start\nsame line\n(… the line above 19,999 more times)\nend\n"}, 200},
		"blocks": {strings.Repeat("Traceback:\n  File a.py\n  File b.py\nKeyError\n", 500) + "done\n",
			[]string{"KeyError\n(… the 4 lines above 499 more times)\ndone\n"}, 200},
		"a counter": {lines(4000, func(i int) string { return fmt.Sprintf("cc -c src/unit%d.c -o obj/unit%d.o", i, i) }) + "src/unit7.c:4: error\n", []string{"unit1.o\n(… 3,997 lines that count on the same way)\ncc -c src/unit3999.c", "error\n"}, 300},
		"timestamps": {lines(900, func(i int) string {
			return fmt.Sprintf("2026-01-02T03:%02d:%02d.%03dZ INFO waiting for the lock", i/60%60, i%60, i*7%1000)
		}), []string{"(… 898 lines like the one above but for the time)\n"}, 300},
		"progress": {lines(101, func(i int) string {
			return fmt.Sprintf("Downloading model [%s%s] %d%% %d.%d MB/s eta 00:%02d", strings.Repeat("=", i/5), strings.Repeat(" ", 20-i/5), i, i*7%13, i%10, (100-i)/2)
		}), []string{"(… 99 lines of progress like these)\n", "100%"}, 400},
		"parts":       {lines(400, func(i int) string { return fmt.Sprintf("Step %d/400: unpacking files", i) }), []string{"(… "}, 300},
		"a long line": {"a\n" + strings.Repeat("x", 300_000) + "END\nb\n", []string{"a\nxxx", "bytes of this line left out)… xxx", "END\nb\n"}, 2200},
		"links":       {lines(10_000, func(i int) string { return fmt.Sprintf("- [%x](https://example.com/%x)", i*7919%65521, i*104729%99991) }), []string{"(… 9,975 lines of links like these)\n"}, 2500},
		"links apart": {lines(10_000, func(i int) string { return fmt.Sprintf("[%x](https://example.com/%x)\n", i*7919%65521, i*104729%99991) }), []string{" lines of links like these)\n"}, 2500},
		"many links in a line": {strings.TrimSpace(strings.ReplaceAll(lines(5_000, func(i int) string { return fmt.Sprintf("[%x](https://example.com/%x)", i*7919%65521, i) }), "\n", " ")),
			[]string{"of this line left out"}, 2500},
	} {
		s := Fit(Rows(c.text), usual())
		if len(s.Head)+len(s.Tail) > c.most || !s.Folded {
			t.Errorf("%s: %d bytes, folded %v:\n%.600s", name, len(s.Head)+len(s.Tail), s.Folded, s.Head)
		}
		for _, want := range c.want {
			if !strings.Contains(s.Head+s.Tail, want) {
				t.Errorf("%s: no %q in\n%.900s", name, want, s.Head+s.Tail)
			}
		}
	}
}

// What differs in more than a counter is data, which the model may need.
func TestDataIsNotFolded(t *testing.T) {
	for name, text := range map[string]string{
		"measurements": lines(60, func(i int) string {
			return fmt.Sprintf("epoch %d/60 loss %d.%04d acc 0.%03d", i, 60-i, i*7919%10000, i*i%1000)
		}),
		"a table":       lines(60, func(i int) string { return fmt.Sprintf("%d,%d,%d", i, i*i%97, i*7919%1000) }),
		"sizes by file": lines(60, func(i int) string { return fmt.Sprintf("-rw-r--r-- 1 a a %d Jan 2 03:04 file%d.txt", i*i%5000, i) }),
		"timings":       lines(60, func(i int) string { return fmt.Sprintf("ok test%d (%d.%02ds)", i, i%3, i*31%100) }),
		"backwards":     lines(60, func(i int) string { return fmt.Sprintf("worker at %d%% of its memory limit", 90-i*i%50) }),
		"a program":     lines(60, func(i int) string { return fmt.Sprintf("\tcase %d: return table[%d]", i, i*i%256) }),
		"hashes":        lines(60, func(i int) string { return fmt.Sprintf("%07x fix the thing", i*7919*31) }),
		"prose links": lines(90, func(i int) string {
			return fmt.Sprintf("The %d. part explains a thing; see [x](https://e.com/%d) for why it is %x.", i, i*i%77, i*i)
		}),
	} {
		if s := Fit(Rows(text), Limits{Head: 1 << 20, Tail: 1 << 20, HeadLines: 1000, TailLines: 1000}); s.Folded || s.Head != text {
			t.Errorf("%s is folded:\n%.500s", name, s.Head)
		}
	}
}

// The rows of any text stand for each of its lines once, and what is no note is a line of it.
func TestRowsAccountForEveryLine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"same", "other\n", "7%", "12/40", "unit", "\n", "10:00:01 ", "2026-01-02 03:04:05 ", "[a](https://b.c/", ")", "\n\n", "===", "{", "}\n"}
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			var part strings.Builder
			for range r.IntN(8) {
				part.WriteString(words[r.IntN(len(words))])
				if r.IntN(3) == 0 {
					fmt.Fprint(&part, r.IntN(30))
				}
			}
			b.WriteString(strings.Repeat(part.String(), 1+r.IntN(1+r.IntN(80))))
		}
		text := b.String()
		var counted, bytes int64
		rest := text
		rows := Rows(text)
		for _, row := range rows {
			counted, bytes = counted+row.Lines, bytes+row.Bytes
			if !row.Note && !strings.HasPrefix(rest, row.Text) {
				t.Fatalf("%q is not the next line of %q", row.Text, text)
			}
			rest = rest[row.Bytes:]
		}
		if counted != int64(len(splitLines(text))) || bytes != int64(len(text)) {
			t.Fatalf("%d lines, %d bytes of %q", counted, bytes, text)
		}
		room := Limits{Head: 300, Tail: 500, HeadLines: 8, TailLines: 9}
		s := Fit(rows, room)
		if len(s.Head) > room.Head+1 && s.Tail != "" || len(s.Tail) > room.Tail {
			t.Fatalf("%d and %d bytes are shown", len(s.Head), len(s.Tail))
		}
	}
}

func BenchmarkRows(b *testing.B) {
	text := lines(4000, func(i int) string {
		return fmt.Sprintf("%x/src/%d/file.go:%d: some text of %d%% that differs %x", i*7919, i%7, i*31%977, i%100, i*104729)
	})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Fit(Rows(text), usual())
	}
}
