package versus

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"adze/internal/files/search"
)

// rival is a program to be held against.
func rival(t testing.TB, variable string, names ...string) string {
	t.Helper()
	for _, name := range append([]string{os.Getenv(variable)}, names...) {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", names[0])
	return ""
}

func ripgrep(t testing.TB) string { return rival(t, "ADZE_RG", "rg") }

// both is a tree that two programs search, with a home in which nothing is configured.
type both struct {
	t      testing.TB
	rg     string
	tree   search.Tree
	home   string
	differ map[string]bool // files that are not compared: they have NUL bytes
}

func newBoth(t testing.TB, root string) both {
	t.Helper()
	home := t.TempDir()
	env := map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
	b := both{t: t, rg: ripgrep(t), home: home, differ: map[string]bool{}}
	b.tree = search.Tree{Root: root, Env: func(name string) string { return env[name] }}
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return permitted(err)
		}
		text, err := os.ReadFile(path)
		wide := bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
		if bytes.IndexByte(text, 0) >= 0 && !wide {
			b.differ[strings.TrimPrefix(path, root+"/")] = true
		}
		return permitted(err)
	}))
	return b
}

// permitted is an error of another kind than that something may not be read, which is so in places.
func permitted(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// run starts ripgrep in the tree. No match is no error, and neither is a folder that may not be
// read.
func (b both) run(args ...string) []byte {
	b.t.Helper()
	cmd := exec.Command(b.rg, append([]string{"--no-config", "--no-messages", "--no-require-git", "--color=never"}, args...)...)
	cmd.Dir, cmd.Env = b.tree.Root, append(os.Environ(), "HOME="+b.home, "XDG_CONFIG_HOME="+b.home)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && problem.Len() > 0) {
		b.t.Fatalf("rg %q: %v %s", args, err, problem.Bytes())
	}
	return out
}

// theirs asks ripgrep; the answer is by path and line, or by path alone.
func (b both) theirs(a ask) map[string]string {
	b.t.Helper()
	answer := map[string]string{}
	args := append([]string{"-a", "-n", "--no-heading", "--with-filename", "--null"}, a.args()...)
	if !strings.Contains(a.flags, "U") {
		args = append(args, "--crlf") // across lines, $ is before \n alone
	}
	out := b.run(append(args, "./")...)
	for len(out) > 0 {
		name, rest, _ := bytes.Cut(out, []byte{0})
		path := strings.TrimPrefix(string(name), "./")
		if strings.Contains(a.flags, "l") {
			answer[path], out = "", rest
			continue
		}
		var line []byte
		line, out, _ = bytes.Cut(rest, []byte{'\n'})
		if b.differ[path] {
			continue
		}
		if strings.Contains(a.flags, "c") {
			answer[path] = strings.TrimSuffix(string(line), "\r")
			continue
		}
		number, text, _ := bytes.Cut(line, []byte{':'})
		answer[path+"\x00"+string(number)] = strings.TrimSuffix(string(text), "\r")
	}
	maps.DeleteFunc(answer, func(path, _ string) bool { return b.differ[path] })
	return answer
}

// ours asks adze, in the same form.
func (b both) ours(a ask) map[string]string {
	b.t.Helper()
	r, err := b.tree.Grep(context.Background(), a.query())
	must(b.t, err)
	answer := map[string]string{}
	for _, f := range r.Files {
		if b.differ[f.Path] {
			continue
		}
		switch {
		case strings.Contains(a.flags, "l"):
			answer[f.Path] = ""
		case strings.Contains(a.flags, "c"):
			answer[f.Path] = fmt.Sprint(f.Count)
		}
		for _, l := range f.Lines {
			answer[fmt.Sprintf("%s\x00%d", f.Path, l.Number)] = l.Text
		}
	}
	return answer
}

// compare reports what one of them has and the other has not.
func (b both) compare(a ask) {
	b.t.Helper()
	if b.tooMany(a) {
		return
	}
	theirs, ours := b.theirs(a), b.ours(a)
	if strings.Contains(a.flags, "9") {
		b.capped(a, theirs, ours)
		return
	}
	shown := 0
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		if mine, ok := ours[key]; !ok || mine != theirs[key] && utf8.ValidString(theirs[key]) && !b.stray(a, key) {
			if shown++; shown <= 3 {
				b.t.Errorf("%v: rg has %q %.100q, adze %.100q (%v)", a, key, theirs[key], mine, ok)
			}
		}
		delete(ours, key)
	}
	for key, text := range ours {
		if !utf8.ValidString(text) || b.stray(a, key) {
			continue
		}
		if shown++; shown <= 3 {
			b.t.Errorf("%v: adze alone has %q %.100q", a, key, text)
		}
	}
}

// tooManyLines are more than are held in memory twice, for one question.
const tooManyLines = 1 << 20

// tooMany compares the counts of each file in the place of the lines, and reports whether that has
// to be enough.
func (b both) tooMany(a ask) bool {
	b.t.Helper()
	if strings.ContainsAny(a.flags, "lcU") {
		return false
	}
	counts := a
	counts.flags = strings.ReplaceAll(a.flags, "9", "") + "c"
	sum := 0
	for _, count := range b.theirs(counts) {
		n, err := strconv.Atoi(count)
		must(b.t, err)
		sum += n
	}
	if sum > tooManyLines {
		b.compare(counts)
	}
	return sum > tooManyLines
}

// stray reports a whole file in the answer that holds stray bytes, of which adze may have more.
func (b both) stray(a ask, path string) bool {
	if !strings.ContainsAny(a.flags, "lc") {
		return false
	}
	text, err := os.ReadFile(b.tree.Root + "/" + path)
	return err == nil && !utf8.Valid(text)
}

// capped looks at an answer that was cut: as many as there are, all of them right, the first by
// their paths.
func (b both) capped(a ask, theirs, ours map[string]string) {
	b.t.Helper()
	if want := min(9, len(theirs)); len(ours) != want {
		b.t.Errorf("%v: %d lines, want %d", a, len(ours), want)
	}
	last := slices.MaxFunc(append(slices.Collect(maps.Keys(ours)), ""), byPath)
	for key := range ours {
		if _, ok := theirs[key]; !ok && utf8.ValidString(ours[key]) {
			b.t.Errorf("%v: %q is no match of rg's", a, key)
		}
	}
	for key := range theirs {
		if _, ok := ours[key]; !ok && byPath(key, last) < 0 {
			b.t.Errorf("%v: %q comes before %q and is not there", a, key, last)
			break
		}
	}
}

// byPath is the order of results: paths, then numbers of lines.
func byPath(a, b string) int {
	pathA, numberA, _ := strings.Cut(a, "\x00")
	pathB, numberB, _ := strings.Cut(b, "\x00")
	return cmp.Or(strings.Compare(pathA, pathB), cmp.Compare(len(numberA), len(numberB)), strings.Compare(numberA, numberB))
}

// files compares the sets of files: regular ones, for ripgrep lists no links.
func (b both) files() {
	b.t.Helper()
	r, err := b.tree.Glob(context.Background(), search.GlobQuery{Pattern: "**", Limit: 1 << 30})
	must(b.t, err)
	ours := map[string]bool{}
	for _, f := range r.Files {
		if !f.Link {
			ours[f.Path] = true
		}
	}
	n := 0
	for name := range bytes.SplitSeq(b.run("--files", "-0"), []byte{0}) {
		if len(name) == 0 {
			continue
		}
		if n++; !ours[string(name)] {
			b.t.Errorf("rg alone has %q", name)
		}
		delete(ours, string(name))
	}
	for name := range ours {
		b.t.Errorf("adze alone has %q", name)
	}
	b.t.Logf("%d files", n)
}

// trees are those that ADZE_TREES asks for beside the odd one: go, large, all.
func trees(t testing.TB) map[string]string {
	t.Helper()
	which := os.Getenv("ADZE_TREES")
	all := map[string]string{"odd": oddTree(t)}
	if which == "go" || which == "all" {
		all["go"] = goTree(t)
	}
	if which == "large" || which == "all" {
		all["large"] = largeTree(t)
	}
	return all
}

func TestLinesEqualThoseOfRipgrep(t *testing.T) {
	all := asks(t)
	if len(all) < 150 {
		t.Errorf("only %d patterns", len(all))
	}
	ripgrep(t)
	for name, root := range trees(t) {
		t.Run(name, func(t *testing.T) {
			b := newBoth(t, root)
			if name != "odd" { // whose files are too young
				b.tree.Signs = search.NewSigns(t.TempDir(), root)
				must(t, b.tree.Signs.Learn(context.Background(), b.tree))
			}
			for _, a := range all {
				b.compare(a)
			}
			t.Logf("%d patterns", len(all))
		})
	}
}

func TestFilesEqualThoseOfRipgrep(t *testing.T) {
	ripgrep(t)
	for name, root := range trees(t) {
		t.Run(name, func(t *testing.T) { newBoth(t, root).files() })
	}
}
