package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
)

func TestGlob(t *testing.T) {
	tr := tree(t, map[string]string{
		"main.go": "", "a.txt": "", "src/x.go": "", "src/deep/y.go": "", "src/deep/y.ts": "", "src/.hidden.go": "",
		".github/workflows/ci.yml": "", ".github/.secret.yml": "", ".env": "", ".git/config": "", "src/.git/HEAD": "",
		"ignored/z.go": "", "top.log": "", ".gitignore": "ignored/\n*.log\n", "we[ird].go": "", "new\nline.go": "",
		"latin\xe4.go": "", "link.go": "-> main.go", "loop": "-> .", "dangling.go": "-> nowhere",
	})
	for pattern, want := range map[string][]string{
		"*.go":              {"dangling.go", "latin\xe4.go", "link.go", "main.go", "new\nline.go", "we[ird].go"},
		"**/*.ts":           {"src/deep/y.ts"},
		"src/**":            {"src/deep/y.go", "src/deep/y.ts", "src/x.go"},
		"src/":              {"src/deep/y.go", "src/deep/y.ts", "src/x.go"},
		"./src//x.go":       {"src/x.go"},
		"src/*.{go,ts}":     {"src/x.go"},
		"{src/deep,.}/*.go": {"dangling.go", "latin\xe4.go", "link.go", "main.go", "new\nline.go", "src/deep/y.go", "we[ird].go"},
		"**/.*":             {".env", ".gitignore", "src/.hidden.go"},
		".github/**":        {".github/workflows/ci.yml"},
		"**/*.yml":          {},
		".git/**":           {},
		"loop/**":           {},
		"loop/main.go":      {},
		"ignored/z.go":      {},
		"we\\[ird\\].go":    {"we[ird].go"},
		"m[a-c]in.?o":       {"main.go"},
		"**/x.go":           {"src/x.go"},
	} {
		if diff := cmp.Diff(want, found(t, tr, pattern)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
	if diff := cmp.Diff([]string{"src/x.go"}, found(t, tr, "src/**/*.go", "deep")); diff != "" {
		t.Errorf("exclude (-want +got):\n%s", diff)
	}
}

func TestGlobOrderAndLimit(t *testing.T) {
	tr := tree(t, map[string]string{"a": "1", "b": "22", "c": "", "d": "", "e/f": ""})
	age(t, tr, map[string]int{"a": 5, "b": 1, "c": 3, "d": 3, "e/f": 3})
	for limit, want := range map[int]string{1: "b", 3: "b c d", 9: "b c d e/f a"} {
		r, err := tr.Glob(context.Background(), GlobQuery{Pattern: "**", Limit: limit})
		must(t, err)
		var got []string
		for _, f := range r.Files {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != want || r.Total != 5 {
			t.Errorf("limit %d gives %v of %d, want %s", limit, got, r.Total, want)
		}
	}
}

// TestGlobHandsOutEarly: what is handed out before the end is what is found, without what is
// held back.
func TestGlobHandsOutEarly(t *testing.T) {
	tr := tree(t, map[string]string{"a": "", "b/secret": "", "b/c": "", "d/e/f": ""})
	tr.Withhold = func(_, name string) bool { return name == "secret" }
	var early []string
	var mu sync.Mutex
	q := GlobQuery{Pattern: "**", Limit: 9, OnPath: func(path string) {
		mu.Lock()
		defer mu.Unlock()
		early = append(early, path)
	}}
	_, err := tr.Glob(context.Background(), q)
	must(t, err)
	if slices.Sort(early); strings.Join(early, " ") != "a b/c d/e/f" {
		t.Errorf("handed out: %q", early)
	}
}

func TestGlobArguments(t *testing.T) {
	tr := tree(t, map[string]string{"a": ""})
	for pattern, want := range map[string]string{
		"":                          "the pattern is empty",
		"/etc/*":                    "is absolute",
		"../x":                      "leads out of the folder",
		"a/{b,../c}/../d":           "leads out of the folder",
		"[a":                        "not a valid glob",
		"{a":                        "not a valid glob",
		strings.Repeat("a", 5000):   "longer than",
		strings.Repeat("{a,b}", 40): "alternatives",
	} {
		_, err := tr.Glob(context.Background(), GlobQuery{Pattern: pattern, Limit: 1})
		if codeOf(err) != "invalid_arguments" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", pattern, err)
		}
	}
	if _, err := tr.Glob(context.Background(), GlobQuery{Pattern: "*", Limit: -1}); codeOf(err) != "invalid_arguments" {
		t.Errorf("a negative limit gives %v", err)
	}
	tr.Root += "/a"
	if _, err := tr.Glob(context.Background(), GlobQuery{Pattern: "*", Limit: 1}); codeOf(err) != "invalid_arguments" {
		t.Errorf("a file as root gives %v", err)
	}
	tr.Root += "z"
	if _, err := tr.Glob(context.Background(), GlobQuery{Pattern: "*", Limit: 1}); codeOf(err) != "not_found" {
		t.Errorf("no root gives %v", err)
	}
}

// TestPatternsAgreeWithDoublestar compares matching element by element with doublestar on whole
// paths.
func TestPatternsAgreeWithDoublestar(t *testing.T) {
	pieces := []string{"a", "b", "*", "?", "**", "/", "/**/", "{a,b}", "{a/b,c}", "[ab]", "\\*", "a*", "**/"}
	names := []string{"a", "b", "c", "ab", "*", "abc"}
	rng := rand.New(rand.NewPCG(3, 4))
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	matched := 0
	for range 40000 {
		pattern, path := "", pick(names)
		for range 1 + rng.IntN(5) {
			pattern += pick(pieces)
		}
		for range rng.IntN(4) {
			path += "/" + pick(names)
		}
		if strings.Contains(pattern, "//") || strings.HasSuffix(pattern, "/") || pattern[0] == '/' || strings.Contains(pattern, "}a/") {
			continue // empty elements mean different things
		}
		if strings.HasSuffix(pattern, "/**") {
			continue // doublestar lets a file stand for the folder that holds all; git does not
		}
		if strings.Contains(pattern, "***") || strings.Contains(pattern, "**/**") {
			continue // doublestar itself is of two minds about them
		}
		g, err := newGlob([]string{pattern}, false, false)
		if err != nil {
			continue
		}
		want := doublestar.MatchUnvalidated(pattern, path)
		if got := g.match(path); got != want {
			t.Errorf("%q on %q = %v, doublestar says %v", pattern, path, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matches were compared", matched)
	}
}

func TestUnreadableKeepsTheFirstPaths(t *testing.T) {
	var a, b Unreadable
	for _, p := range []string{"m", "c", "x", "b", "z", "a", "y"} {
		a.add(p)
	}
	b.add("bb")
	a.merge(b)
	if diff := cmp.Diff(Unreadable{Count: 8, Paths: []string{"a", "b", "bb", "c", "m"}}, a); diff != "" {
		t.Error(diff)
	}
}

// match tests a whole path.
func (g *glob) match(path string) bool {
	r := g.root()
	for {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			return g.accepts(r, name)
		}
		next, _, open := g.enter(r, name)
		if !open {
			return false
		}
		r, path = next, rest
	}
}

// TestNewestOfEqualTimes keeps the first by path of files that are equally old, whatever the order
// they come in.
func TestNewestOfEqualTimes(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/f%d", i*7%5, i)] = "x"
	}
	tr := tree(t, files)
	when := time.Unix(1_700_000_000, 5)
	for name := range files {
		must(t, os.Chtimes(filepath.Join(tr.Root, name), when, when))
	}
	must(t, os.Chtimes(filepath.Join(tr.Root, "d4/f57"), when, when.Add(time.Nanosecond)))
	for _, limit := range []int{1, 2, 7, 59, 60, 100} {
		r, err := tr.Glob(context.Background(), GlobQuery{Pattern: "**", Limit: limit})
		must(t, err)
		var want []string
		for name := range files {
			if name != "d4/f57" {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		want = append([]string{"d4/f57"}, want...)
		for i, f := range r.Files {
			if f.Path != want[i] || f.Size != 1 || i > 0 && !f.Modified.Equal(when) {
				t.Fatalf("limit %d: file %d is %+v, want %s", limit, i, f, want[i])
			}
		}
		if len(r.Files) != min(limit, 60) || r.Total != 60 {
			t.Errorf("limit %d: %d of %d files", limit, len(r.Files), r.Total)
		}
	}
}
