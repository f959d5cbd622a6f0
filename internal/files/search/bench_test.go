package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"adze/internal/files/search/match"
)

// Benchmarks run on a generated tree, or on the one named by ADZE_SEARCH_TREE. With rg on the PATH
// each also reports the CPU time of both, as the median ratio of paired runs (own/rg).

// benchTree writes 2,000 source files of about 8 KiB in 200 folders, once for all benchmarks.
func benchTree(b *testing.B) Tree {
	if dir := os.Getenv("ADZE_SEARCH_TREE"); dir != "" {
		return Tree{Root: dir}
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("adze-bench-tree-%d", os.Getuid()))
	if _, err := os.Stat(dir + "/done"); err == nil {
		return Tree{Root: dir}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("func return err if nil for range string int struct type package import context timeout handler request response buffer length index value error Error true false")
	for i := range 2000 {
		path := fmt.Sprintf("%s/pkg%02d/sub%d/file%d.go", dir, i%20, i/20%10, i)
		must(b, os.MkdirAll(filepath.Dir(path), 0o755))
		var text strings.Builder
		for text.Len() < 4096+rng.IntN(8192) {
			for range 3 + rng.IntN(9) {
				text.WriteString(words[rng.IntN(len(words))] + []string{" ", " ", "(", ")", "."}[rng.IntN(5)])
			}
			text.WriteString("\n")
		}
		if i%97 == 0 {
			text.WriteString("zyzzyva MAX_BUFFER_SIZE\n")
		}
		must(b, os.WriteFile(path, []byte(text.String()), 0o644))
	}
	must(b, os.WriteFile(dir+"/.gitignore", []byte("*.o\n/build/\n"), 0o644))
	must(b, os.WriteFile(dir+"/done", nil, 0o644))
	return Tree{Root: dir}
}

func BenchmarkGrep(b *testing.B) {
	t := benchTree(b)
	for _, c := range []struct {
		name string
		q    match.Query
		rg   []string
	}{
		{"rare literal", query("zyzzyva"), nil},
		{"no match", query("qqxqqxqq"), nil},
		{"common literal", query("return"), nil},
		{"word", match.Query{Pattern: "err", Word: true}, []string{"-w"}},
		{"ignore case", match.Query{Pattern: "timeout", IgnoreCase: true}, []string{"-i"}},
		{"alternatives", query("zyzzyva|MAX_BUFFER|qqq|handlerx|nilly"), nil},
		{"function", query(`func \w+\(`), nil},
		{"start of line", query("^import"), nil},
		{"classes", query("[A-Z]{3,}_[A-Z]+"), nil},
		{"long word", query(`\w{20,}`), nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			own := func() {
				if _, err := t.Grep(context.Background(), GrepQuery{Query: c.q, Limit: 100, Width: 500}); err != nil {
					b.Fatal(err)
				}
			}
			measure(b, own)
			ratio(b, own, append(append([]string{"-n", "--no-heading"}, c.rg...), "-e", c.q.Pattern, t.Root))
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	t := benchTree(b)
	for _, pattern := range []string{"**", "**/*.go"} {
		b.Run(pattern, func(b *testing.B) {
			own := func() {
				if _, err := t.Glob(context.Background(), GlobQuery{Pattern: pattern, Limit: 100}); err != nil {
					b.Fatal(err)
				}
			}
			measure(b, own)
			ratio(b, own, []string{"--files", "--sortr", "modified", "-g", pattern, t.Root})
		})
	}
}

// BenchmarkWalk visits every file and does nothing: the floor of glob and grep.
func BenchmarkWalk(b *testing.B) {
	t := benchTree(b)
	own := func() {
		s, err := t.scope(everything, false, nil)
		must(b, err)
		visitors := make([]visitor, t.workers())
		for i := range visitors {
			visitors[i] = idle{}
		}
		must(b, walkTree(context.Background(), t, s, visitors))
	}
	measure(b, own)
	ratio(b, own, []string{"--files", t.Root})
}

type idle struct{}

func (idle) visit(context.Context, *dir, []entry) {}
func (idle) unreadable(string)                    {}
func (idle) beyond(string) bool                   { return false }
func (idle) ordered() bool                        { return false }

func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	for i := range 100000 {
		must(b, os.WriteFile(fmt.Sprintf("%s/file-%06d.txt", dir, i*7919%100000), nil, 0o644))
	}
	t := Tree{Root: dir}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.List(context.Background(), ListQuery{Depth: 1, Limit: 1000}); err != nil {
			b.Fatal(err)
		}
	}
}

// measure reports CPU time beside the wall's, which a busy machine distorts.
func measure(b *testing.B, own func()) {
	before, n := cpu(), 0
	for b.Loop() {
		own()
		n++
	}
	b.ReportMetric(float64((cpu()-before).Microseconds())/1000/float64(n), "cpu-ms/op")
}

// ratio reports own CPU time over that of rg for the same question, if rg is there.
func ratio(b *testing.B, own func(), args []string) {
	if _, err := exec.LookPath("rg"); err != nil {
		return
	}
	const pairs = 7
	var ratios []float64
	for range pairs {
		before := cpu()
		own()
		mine := cpu() - before
		cmd := exec.Command("rg", args...)
		_, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
			b.Fatal(err)
		}
		ratios = append(ratios, float64(mine)/float64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()))
	}
	sort.Float64s(ratios)
	b.ReportMetric(ratios[pairs/2], "cpu-own/rg")
}
