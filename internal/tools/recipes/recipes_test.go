// Package recipes follows the pages of CONTRIBUTING.md that say how to add a thing.
//
// Each file of testdata is one recipe. The test copies the tree, adds the example of every recipe
// to the copy, builds it and runs the commands that the page names, then all tests of the packages
// that were touched. It also compares the files and lines that an example needs with what the page
// says.
//
// A section of a recipe is named "FILE" for a new file, "FILE after TEXT" for lines that follow the
// first line that holds TEXT, or "FILE instead of TEXT" for what takes the place of that line. A
// line that begins with "\--" is a line that begins with "--".
package recipes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"adze/internal/testkit/effort"
)

// recipe is one example and the entry of the page that it follows.
type recipe struct {
	name  string // the heading of the entry, such as "A tool"
	text  string // the entry
	edits []edit
}

// edit is a new file, or lines in one that exists.
type edit struct {
	file  string
	at    string // a part of the line that the text follows; if empty, the file is new
	place bool   // the text takes the place of that line
	text  string
}

// aside reports that an edit is a test, a case or a golden, which no count includes.
func (e edit) aside() bool {
	return strings.HasSuffix(e.file, "_test.go") || strings.Contains(e.file, "testdata/")
}

// read reads a recipe and its entry in the page.
func read(t *testing.T, file, page string) recipe {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := recipe{name: strings.TrimSpace(string(archive.Comment))}
	_, rest, ok := strings.Cut(page, "- **"+r.name+":**")
	if !ok {
		t.Fatalf("%s: the page has no entry %q", file, r.name)
	}
	end := regexp.MustCompile(`\n\n|\n- \*\*`).FindStringIndex(rest)
	r.text = strings.Join(strings.Fields(rest[:end[0]]), " ")
	for _, f := range archive.Files {
		e := edit{text: string(bytes.ReplaceAll(f.Data, []byte("\\--"), []byte("--")))}
		if e.file, e.at, e.place = strings.Cut(f.Name, " instead of "); !e.place {
			e.file, e.at, _ = strings.Cut(f.Name, " after ")
		}
		r.edits = append(r.edits, e)
	}
	return r
}

// counts are the new files, the files that get lines, and those lines.
func (r recipe) counts() (created, changed, lines int) {
	files := map[string]bool{}
	for _, e := range r.edits {
		switch {
		case e.aside():
		case e.at == "":
			created++
		default:
			files[e.file] = true
			lines += strings.Count(e.text, "\n")
		}
	}
	return created, len(files), lines
}

// costs is what the page says of it, such as "(2 new files, 1 line in 1 file)".
func (r recipe) costs() string {
	created, changed, lines := r.counts()
	var parts []string
	for _, p := range []struct {
		n    int
		unit string
	}{{created, "new file"}, {lines, "line"}} {
		if p.n == 1 {
			parts = append(parts, "1 "+p.unit)
		} else if p.n > 1 {
			parts = append(parts, strconv.Itoa(p.n)+" "+p.unit+"s")
		}
	}
	if lines > 0 && changed == 1 {
		parts[len(parts)-1] += " in 1 file"
	} else if lines > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" in %d files", changed)
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// commands are the tests that the page names, each as words.
func (r recipe) commands() (out [][]string) {
	for _, m := range regexp.MustCompile("`(go test [^`]*)`").FindAllStringSubmatch(r.text, -1) {
		out = append(out, strings.Fields(strings.ReplaceAll(m[1], "'", "")))
	}
	return out
}

// apply makes the edits below dir.
func (r recipe) apply(dir string) error {
	for _, e := range r.edits {
		name := filepath.Join(dir, filepath.FromSlash(e.file))
		old, err := os.ReadFile(name)
		if e.at == "" {
			if !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%s is to be new, and is there", e.file)
			}
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
		} else {
			if err != nil {
				return err
			}
			at := bytes.Index(old, []byte(e.at))
			if at < 0 {
				return fmt.Errorf("%s has no line with %q; the recipe is out of date", e.file, e.at)
			}
			end := at + bytes.IndexByte(old[at:], '\n') + 1
			begin := end
			if e.place {
				begin = bytes.LastIndexByte(old[:at], '\n') + 1
			}
			e.text = string(old[:begin]) + e.text + string(old[end:])
		}
		if err := os.WriteFile(name, []byte(e.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// all reads every recipe.
func all(t *testing.T) (out []recipe) {
	t.Helper()
	page, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != 6 {
		t.Fatalf("there are %d recipes, want 6: %v", len(files), err)
	}
	for _, f := range files {
		out = append(out, read(t, f, string(page)))
	}
	return out
}

// TestThePageSaysWhatARecipeTouches compares each entry of the page with its example.
func TestThePageSaysWhatARecipeTouches(t *testing.T) {
	for _, r := range all(t) {
		if want := r.costs(); !strings.Contains(r.text, want) {
			t.Errorf("%s: the page does not say %s", r.name, want)
		}
		if len(r.commands()) == 0 {
			t.Errorf("%s: the page names no test", r.name)
		}
		for _, e := range r.edits {
			named := strings.Contains(r.text, "`"+e.file)
			for dir := path.Dir(e.file); e.at == "" && dir != "." && !named; dir = path.Dir(dir) { // the page names the folder of what is new
				named = strings.Contains(r.text, "`"+dir)
			}
			if !named {
				t.Errorf("%s: the page does not name %s", r.name, e.file)
			}
		}
	}
}

// long are the packages whose tests run the whole program, for minutes. Of these the tests that the
// page names run, and with ADZE_TESTS=long the others, too.
func long(dir string) bool { return dir == "internal/run" || dir == "internal/cmd" }

// TestRecipes follows all recipes in one copy of the tree.
func TestRecipes(t *testing.T) {
	effort.Needs(t, effort.Short, "it builds the program and the tests of many packages anew")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there, which lists the files to copy")
	}
	recipes, dir := all(t), copyTree(t)
	touched := map[string]bool{}
	for _, r := range recipes {
		if err := r.apply(dir); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		for _, e := range r.edits {
			if strings.HasSuffix(e.file, ".go") {
				touched[path.Dir(e.file)] = true
			}
		}
	}
	// The names of folders stay out of what is compiled, so that the next copy finds it in the cache.
	run := func(args ...string) error {
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0", effort.Variable+"=")
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := run("go", "build", "-trimpath", "./..."); err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, r := range recipes {
		for _, c := range r.commands() {
			line := strings.Join(c, " ")
			if slices.Contains(seen, line) {
				continue
			}
			seen = append(seen, line)
			if err := run(slices.Insert(c, 2, "-trimpath")...); err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
		}
	}
	others := []string{"go", "test", "-trimpath"}
	for d := range touched {
		if !long(d) || effort.Is(effort.Long) {
			others = append(others, "./"+d)
		}
	}
	slices.Sort(others[3:])
	if err := run(others...); err != nil {
		t.Errorf("a test that no page names fails: %v", err)
	}
}

// copyTree copies the files that git knows or would add.
func copyTree(t *testing.T) string {
	t.Helper()
	root, dir := filepath.Join("..", "..", ".."), t.TempDir()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Skipf("git does not list the files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755)
		}
		if err == nil {
			info, serr := os.Lstat(filepath.Join(root, name))
			if serr != nil {
				t.Fatal(serr)
			}
			err = os.WriteFile(filepath.Join(dir, name), raw, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
