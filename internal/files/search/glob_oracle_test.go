package search

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGlobsMeanWhatGitMeans compares with git's own glob path specifications, over a tree in which
// files and folders share their names.
func TestGlobsMeanWhatGitMeans(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	files := map[string]string{}
	for _, name := range []string{
		"a", "b/a", "b/c/a", "c/a/x.go", "c/a/a/y.go", "c/b/a/z.ts", "d/x.go", "d/a.go", "d/e/f/a", "e/a/b/c/d.md", "x.go", "go/mod", "f/go", "f/g/go/h",
	} {
		files[name] = ""
	}
	tr := tree(t, files)
	run := func(args ...string) string {
		cmd := exec.Command(git, append([]string{"-C", tr.Root}, args...)...)
		cmd.Env = append(cmd.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		must(t, err)
		return string(out)
	}
	run("init", "-q")
	run("add", ".")
	parts := []string{"**", "*", "a", "*.go", "[a-c]"}
	var patterns []string
	for _, p := range parts {
		patterns = append(patterns, p)
		for _, q := range parts {
			patterns = append(patterns, p+"/"+q)
			for _, r := range parts {
				patterns = append(patterns, p+"/"+q+"/"+r, p+"/"+q+"/"+r+"/**")
			}
		}
	}
	for _, pattern := range patterns {
		if !strings.ContainsAny(pattern, "*?[") {
			continue // a path specification without wildcards is a folder with all in it
		}
		want := strings.FieldsFunc(run("ls-files", "-z", "--", ":(glob)"+pattern), func(r rune) bool { return r == 0 })
		slices.Sort(want)
		if want == nil {
			want = []string{}
		}
		if diff := cmp.Diff(want, found(t, tr, pattern)); diff != "" {
			t.Errorf("%s (-git +adze):\n%s", pattern, diff)
		}
	}
}
