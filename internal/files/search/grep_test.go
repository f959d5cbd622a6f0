package search

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/files/search/match"
	"adze/internal/testkit/posix"
)

func TestGrep(t *testing.T) {
	tr := tree(t, map[string]string{
		"a.go": "package a\nfunc Foo() {}\nvar x = Foo\n", "b.ts": "foo()\n", "sub/c.go": "// foo\n", "sub/d_test.go": "Foo\n",
		"vendor/v.go": "Foo\n", ".env": "FOO=1\n", ".git/x": "Foo", "skip.log": "Foo", ".gitignore": "*.log\n", "bin": "Foo\x00", "link.go": "-> a.go",
	})
	for name, c := range map[string]struct {
		q    GrepQuery
		want string
	}{
		"all":                {GrepQuery{Query: query("Foo")}, "a.go sub/d_test.go vendor/v.go"},
		"ignore case":        {GrepQuery{Query: match.Query{Pattern: "foo", IgnoreCase: true}}, "a.go b.ts sub/c.go sub/d_test.go vendor/v.go"},
		"include by name":    {GrepQuery{Query: query("(?i)foo"), Include: []string{"*.go"}}, "a.go sub/c.go sub/d_test.go vendor/v.go"},
		"include a path":     {GrepQuery{Query: query("(?i)foo"), Include: []string{"sub/**"}}, "sub/c.go sub/d_test.go"},
		"include hidden":     {GrepQuery{Query: query("(?i)foo"), Include: []string{".env"}}, ".env"},
		"exclude":            {GrepQuery{Query: query("(?i)foo"), Exclude: []string{"*_test.go", "vendor"}}, "a.go b.ts sub/c.go"},
		"type":               {GrepQuery{Query: query("(?i)foo"), Type: "typescript"}, "b.ts"},
		"type and include":   {GrepQuery{Query: query("(?i)foo"), Type: "go", Include: []string{"sub/"}}, "sub/c.go sub/d_test.go"},
		"files":              {GrepQuery{Query: query("Foo"), Mode: Files}, "a.go sub/d_test.go vendor/v.go"},
		"files up to limit":  {GrepQuery{Query: query("Foo"), Mode: Files, Limit: 2}, "a.go sub/d_test.go"},
		"limit in one file":  {GrepQuery{Query: query("Foo"), Limit: 1}, "a.go"},
		"limit over files":   {GrepQuery{Query: query("Foo"), Limit: 3}, "a.go sub/d_test.go"},
		"per file and limit": {GrepQuery{Query: query("Foo"), PerFile: 1, Limit: 3}, "a.go sub/d_test.go vendor/v.go"},
	} {
		for _, workers := range []int{1, 4} {
			tr.Workers = workers
			if got := paths(grep(t, tr, c.q)); got != c.want {
				t.Errorf("%s, %d workers: %s, want %s", name, workers, got, c.want)
			}
		}
	}
}

// TestGrepOfTextsInPlaceOfFiles: what is searched is the text, also of the file that is the root,
// and nothing that the walk does not come to.
func TestGrepOfTextsInPlaceOfFiles(t *testing.T) {
	tr := tree(t, map[string]string{"a.txt": "needle\n", "sub/b.txt": "none\n", "skip.log": "none\n", ".gitignore": "*.log\n"})
	tr.Texts = map[string]string{"a.txt": "typed over\n", "sub/b.txt": "one\na needle\n", "skip.log": "needle\n", "gone.txt": "needle\n"}
	r, err := tr.Grep(t.Context(), GrepQuery{Query: query("needle"), Limit: 10})
	if err != nil || len(r.Files) != 1 || r.Files[0].Path != "sub/b.txt" || r.Files[0].Lines[0].Number != 2 || r.Searched != 2 {
		t.Errorf("%+v %v", r, err)
	}
	tr.Root, tr.Texts = filepath.Join(tr.Root, "a.txt"), map[string]string{"": "two\nneedles\n"}
	if r, err := tr.Grep(t.Context(), GrepQuery{Query: query("needle"), Limit: 10}); err != nil || r.Matches != 1 || r.Files[0].Lines[0].Number != 2 {
		t.Errorf("%+v %v", r, err)
	}
}

func TestGrepTotals(t *testing.T) {
	tr := tree(t, map[string]string{"a": "x\nx\ny\n", "b": "x\n", "c": "n\n", "d": "x\x00", "e": strings.Repeat("y", match.MaxLine+1)})
	want := GrepResult{Matches: 3, Matching: 2, Searched: 3, Binary: Unreadable{1, []string{"d"}}, TooLarge: Unreadable{1, []string{"e"}}}
	r := grep(t, tr, GrepQuery{Query: query("x"), Limit: 1, Mode: Content})
	r.Files = nil
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	r = grep(t, tr, GrepQuery{Query: query("x"), Mode: Count})
	if fmt.Sprint(r.Files[0].Count, r.Files[1].Count, len(r.Files)) != "2 1 2" || r.Files[0].Lines != nil {
		t.Errorf("count gives %+v", r.Files)
	}
}

func TestGrepOfAFile(t *testing.T) {
	tr := tree(t, map[string]string{"a.log": "x\n", ".gitignore": "*.log\n"})
	tr.Root += "/a.log"
	if r := grep(t, tr, GrepQuery{Query: query("x")}); r.Matches != 1 || r.Files[0].Path != "" {
		t.Errorf("got %+v", r)
	}
}

func TestGrepArguments(t *testing.T) {
	tr := tree(t, map[string]string{"a": ""})
	for _, c := range []struct {
		q    GrepQuery
		want string
	}{
		{GrepQuery{Query: query("f("), Limit: 1}, "position 2, is not valid: missing closing ); correct it, or set literal"},
		{GrepQuery{Query: query(""), Limit: 1}, "empty"},
		{GrepQuery{Query: query("a\nb"), Limit: 1}, "set multiline"},
		{GrepQuery{Query: query("a")}, "limit is 0"},
		{GrepQuery{Query: query("a"), Limit: 1, Before: -1}, "context"},
		{GrepQuery{Query: query("a"), Limit: 1, After: 1 << 30}, "context"},
		{GrepQuery{Query: query("a"), Limit: 1, PerFile: -2}, "per_file"},
		{GrepQuery{Query: query("a"), Limit: 1, Mode: "lines"}, "mode"},
		{GrepQuery{Query: query("a"), Limit: 1, Type: "cobol"}, "*.cobol"},
		{GrepQuery{Query: query("a"), Limit: 1, Include: []string{"{"}}, "glob"},
		{GrepQuery{Query: query("a"), Limit: 1, Exclude: []string{"[x"}}, "glob"},
	} {
		_, err := tr.Grep(context.Background(), c.q)
		if codeOf(err) != "invalid_arguments" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
}

// TestGrepAgreesWithPlainWalk compares a parallel search with the plainest one: every file in turn,
// whole, line by line.
func TestGrepAgreesWithPlainWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	files := map[string]string{}
	names := []string{"a", "b", "c-d", "c", "e.go", "f.txt", "B", "zz"}
	for range 300 {
		path := names[rng.IntN(4)] + "1"
		for range rng.IntN(4) {
			path += "/" + names[rng.IntN(len(names))] + "1"
		}
		var text strings.Builder
		for range rng.IntN(30) {
			text.WriteString([]string{"needle", "hay", " ", "\n", "\n", "Needle"}[rng.IntN(6)])
		}
		files[path+"/"+names[rng.IntN(len(names))]] = text.String()
	}
	tr := tree(t, files)
	want, total := plain(t, tr, regexp.MustCompile("needle"))
	for _, limit := range []int{1, 7, 100, 10000} {
		for _, workers := range []int{1, 2, 8} {
			tr.Workers = workers
			r := grep(t, tr, GrepQuery{Query: query("needle"), Limit: limit})
			if diff := cmp.Diff(want[:min(limit, len(want))], flat(r)); diff != "" || r.Matches != total {
				t.Fatalf("limit %d, %d workers: %d of %d\n%s", limit, workers, r.Matches, total, diff)
			}
		}
	}
}

func flat(r GrepResult) []string {
	var all []string
	for _, f := range r.Files {
		for _, l := range f.Lines {
			all = append(all, fmt.Sprintf("%s:%d:%s", f.Path, l.Number, l.Text))
		}
	}
	return all
}

func plain(t *testing.T, tr Tree, re *regexp.Regexp) (all []string, total int) {
	t.Helper()
	var files []string
	must(t, filepath.WalkDir(tr.Root, func(path string, d fs.DirEntry, err error) error {
		if d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	}))
	slices.Sort(files)
	for _, path := range files {
		text, err := os.ReadFile(path)
		must(t, err)
		rel, _ := filepath.Rel(tr.Root, path)
		for i, line := range strings.Split(string(text), "\n") {
			if re.MatchString(line) {
				all = append(all, fmt.Sprintf("%s:%d:%s", rel, i+1, line))
			}
		}
	}
	return all, len(all)
}

// TestSameFilesAsGit compares the files of a walk with those that git would add.
func TestSameFilesAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	rng := rand.New(rand.NewPCG(8, 9))
	names := []string{"a", "b", "out", "x.o", "y.go", "build", "gen.go"}
	rules := []string{"*.o\n", "build/\n", "/a\n", "!x.o\n", "out/*\n!out/y.go\n", "**/gen.go\n", "a/**/b\n", "b/out\n"}
	files := map[string]string{"y.go": ""}
	for range 400 {
		path := ""
		for range 1 + rng.IntN(4) {
			path += names[rng.IntN(len(names))] + "_/"
		}
		if rng.IntN(4) == 0 {
			files[path+".gitignore"] = strings.ReplaceAll(rules[rng.IntN(len(rules))], "/\n", "_/\n")
		}
		files[path+names[rng.IntN(len(names))]] = ""
	}
	files[".gitignore"] = strings.Join(rules, "")
	tr := tree(t, files)
	git := func(args ...string) []byte {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = tr.Root, []string{"HOME=" + tr.Env("HOME"), "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		must(t, err)
		return out
	}
	git("init", "-q")
	must(t, os.WriteFile(tr.Root+"/.git/info/exclude", []byte("b_/*.go\n"), 0o644))
	var want []string
	for _, p := range bytes.Split(git("ls-files", "-z", "-o", "--exclude-standard"), []byte{0}) {
		if len(p) > 0 && filepath.Base(string(p)) != ".gitignore" {
			want = append(want, string(p))
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, found(t, tr, "**")); diff != "" {
		t.Errorf("(-git +ours):\n%s", diff)
	}
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	tr := tree(t, map[string]string{"a": "x\n", "loop/back": "-> ..", "out": "-> /etc", "self": "-> self"})
	must(t, posix.Fifo(t, tr.Root+"/fifo"))
	must(t, posix.Fifo(t, tr.Root+"/loop/.gitignore"))
	if r := grep(t, tr, GrepQuery{Query: query(".")}); paths(r) != "a" || r.Searched != 1 {
		t.Errorf("got %+v", r)
	}
	if got := found(t, tr, "**"); strings.Join(got, " ") != "a loop/back out self" {
		t.Errorf("got %q", got)
	}
	tr.Root += "/fifo"
	if _, err := tr.Grep(context.Background(), GrepQuery{Query: query("x"), Limit: 1}); codeOf(err) != "not_regular" {
		t.Errorf("a FIFO as root gives %v", err)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	tr := tree(t, map[string]string{"a": "x", "b": "x", "dir/c": "x"})
	must(t, os.Chmod(tr.Root+"/b", 0))
	must(t, os.Chmod(tr.Root+"/dir", 0))
	defer os.Chmod(tr.Root+"/dir", 0o755)
	r := grep(t, tr, GrepQuery{Query: query("x")})
	if diff := cmp.Diff(Unreadable{2, []string{"b", "dir/"}}, r.Unreadable); diff != "" || r.Matches != 1 {
		t.Errorf("%d matches\n%s", r.Matches, diff)
	}
}

func TestAbort(t *testing.T) {
	tr := tree(t, map[string]string{"a": "x", "b/c": "x"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tr.Grep(ctx, GrepQuery{Query: query("x"), Limit: 1}); codeOf(err) != "aborted" {
		t.Errorf("grep gives %v", err)
	}
	if _, err := tr.Glob(ctx, GlobQuery{Pattern: "**", Limit: 1}); codeOf(err) != "aborted" {
		t.Errorf("glob gives %v", err)
	}
	if _, err := tr.List(ctx, ListQuery{Depth: 1, Limit: 1}); codeOf(err) != "aborted" {
		t.Errorf("list gives %v", err)
	}
}

// TestAbortDoesNotWaitForASlowPattern aborts while every worker is busy with one line.
func TestAbortDoesNotWaitForASlowPattern(t *testing.T) {
	line := strings.Repeat("ab", 1<<18)
	tr := tree(t, map[string]string{"a": line, "b": line})
	slow := query("(a.{0,90}){0,9}b{300}$")
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	tr.Env = func(string) string {
		select {
		case <-started:
		default:
			close(started)
		}
		return ""
	}
	ended := make(chan error, 1)
	go func() {
		_, err := tr.Grep(ctx, GrepQuery{Query: slow, Limit: 1})
		ended <- err
	}()
	select {
	case <-started:
	case err := <-ended:
		t.Fatalf("ended at once: %v", err)
	}
	cancel()
	if err := <-ended; codeOf(err) != "aborted" {
		t.Errorf("got %v", err)
	}
}
