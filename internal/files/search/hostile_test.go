package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"adze/internal/files/search/match"
	"adze/internal/testkit/effort"
)

// endless gives a line without an end.
type endless struct{ left int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.left))
	for i := range p[:n] {
		p[i] = "abcdefgh"[i&7]
	}
	e.left -= int64(n)
	return n, nil
}

// TestAGiantLineIsSearchedInBoundedMemory searches a line of 10 MB in all ways, and gives up one of
// 32 MB: what is allocated altogether stays below the bar of 32 MiB for what is held at once.
func TestAGiantLineIsSearchedInBoundedMemory(t *testing.T) {
	for _, c := range []struct {
		q    match.Query
		want int
	}{
		{query("hgfe"), 0}, {query(`[a-z]+\d`), 0}, {query("hgfe|thread"), 0}, {query("h$"), 1}, {query("^abc.*fgh$"), 1}, {query("^b"), 0},
		{match.Query{Pattern: "HABC", IgnoreCase: true}, 1}, {match.Query{Pattern: "fgh$", Multiline: true}, 1}, {query("^[a-h]+$"), 1},
	} {
		m, err := match.Compile(c.q)
		must(t, err)
		for size, skip := range map[int64]match.Reason{10 << 20: match.Searched, 32 << 20: match.TooLarge} {
			want := c.want
			if skip != match.Searched {
				want = 0
			}
			s := match.NewScanner(m, match.Config{Width: 500})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found, err := s.Run(context.Background(), &endless{left: size}, 10)
			runtime.ReadMemStats(&after)
			if err != nil || found.Count != want || found.Skip != skip || len(found.Lines) != want {
				t.Errorf("%+v, %d bytes: %.300v, %v", c.q, size, found, err)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
				t.Errorf("%+v, %d bytes: %d MiB were allocated", c.q, size, took>>20)
			}
		}
	}
}

// TestAFileTooLargeForMultilineIsTold gives up a file that would have to be held whole.
func TestAFileTooLargeForMultilineIsTold(t *testing.T) {
	m, err := match.Compile(match.Query{Pattern: `h\s+a`, Multiline: true})
	must(t, err)
	found, err := match.NewScanner(m, match.Config{}).Run(context.Background(), &endless{left: 64 << 20}, 10)
	if err != nil || found.Skip != match.TooLarge {
		t.Errorf("%.300v, %v", found, err)
	}
}

// TestOneLargeBufferAtATime lets scanners of one query meet in long lines, and aborts one that
// waits.
func TestOneLargeBufferAtATime(t *testing.T) {
	m, err := match.Compile(query("needle"))
	must(t, err)
	long := append(bytes.Repeat([]byte{'x'}, 4<<20), "needle\n"...)
	first, second := match.NewScanner(m, match.Config{}), match.NewScanner(m, match.Config{})
	ctx, cancel := context.WithCancel(context.Background())
	inner := func() {
		// The other holds its large buffer while this one, which needs one soon, waits until it is
		// aborted.
		_, err := second.Run(ctx, &stopping{bytes.NewReader(long), 600_000, func() { go cancel() }}, 1)
		if err == nil {
			t.Error("a second large buffer was made")
		}
	}
	found, err := first.Run(context.Background(), &stopping{bytes.NewReader(long), 2_000_000, inner}, 1)
	if err != nil || found.Count != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := second.Run(context.Background(), bytes.NewReader(long), 1); err != nil || found.Count != 1 {
		t.Errorf("afterwards: %+v, %v", found, err)
	}
}

// stopping calls stop once, when so many bytes were read.
type stopping struct {
	r    *bytes.Reader
	at   int64
	stop func()
}

func (s *stopping) Read(p []byte) (int, error) {
	if s.stop != nil && s.r.Size()-int64(s.r.Len()) >= s.at {
		stop := s.stop
		s.stop = nil
		stop()
	}
	return s.r.Read(p[:min(len(p), 200<<10)])
}

// TestManyEmptyFiles walks a folder of 9,000 files, or, when long, of 1,000,000,
// more than are held at once: every one is seen once, what ignore files say counts, and memory is
// bounded.
func TestManyEmptyFiles(t *testing.T) {
	count := effort.Rounds(9_000, 9_000, 1_000_000)
	tr := tree(t, map[string]string{"many/.gitignore": "*7\n", "many/sub/x": "needle"})
	for i := range count {
		f, err := os.OpenFile(fmt.Sprintf("%s/many/file%d", tr.Root, i), os.O_CREATE|os.O_WRONLY, 0o644)
		must(t, err)
		must(t, f.Close())
	}
	ignored := count / 10
	t.Logf("%d files", count)
	for _, workers := range []int{1, 3} {
		tr.Workers = workers
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		r := grep(t, tr, GrepQuery{Query: query("needle"), Limit: 10})
		runtime.ReadMemStats(&after)
		if r.Searched != count-ignored+1 || paths(r) != "many/sub/x" {
			t.Errorf("grep, %d workers: %d files, want %d", workers, r.Searched, count-ignored+1)
		}
		if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
			t.Errorf("grep, %d workers: the heap grew by %d MiB", workers, grown>>20)
		}
		g, err := tr.Glob(context.Background(), GlobQuery{Pattern: "**", Limit: 10})
		if must(t, err); g.Total != count-ignored+1 {
			t.Errorf("glob, %d workers: %d files", workers, g.Total)
		}
	}
}

// TestATreeThatChangesWhileItIsSearched searches while files grow and shrink and folders come and
// go: what never changes is found every time, and nothing else is an error.
func TestATreeThatChangesWhileItIsSearched(t *testing.T) {
	files := map[string]string{"grows": "needle\n", "shrinks": strings.Repeat("needle\n", 30_000)}
	for i := range 40 {
		files[fmt.Sprintf("stays%02d/a/file", i)] = "needle\n"
	}
	tr := tree(t, files)
	tr.Workers = 2
	ctx, cancel := context.WithCancel(context.Background())
	var busy sync.WaitGroup
	busy.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			dir := fmt.Sprintf("%s/stays%02d/gone%d", tr.Root, i%40, i%3)
			if os.MkdirAll(dir+"/deep", 0o755) == nil {
				_ = os.WriteFile(dir+"/deep/file", []byte("needle\n"), 0o644)
			}
			f, err := os.OpenFile(tr.Root+"/grows", os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, _ = f.WriteString("needle\n")
				_ = f.Close()
			}
			_ = os.Truncate(tr.Root+"/shrinks", int64(i%200)*7)
			_ = os.RemoveAll(dir)
		}
	})
	for range 30 {
		r := grep(t, tr, GrepQuery{Query: query("needle"), Limit: 1 << 20})
		stays := 0
		for _, f := range r.Files {
			if strings.HasPrefix(f.Path, "stays") && strings.HasSuffix(f.Path, "/a/file") {
				stays++
			}
		}
		if stays != 40 || r.Unreadable.Count != 0 {
			t.Errorf("%d of 40 files, unreadable %+v", stays, r.Unreadable)
		}
	}
	cancel()
	busy.Wait()
}
