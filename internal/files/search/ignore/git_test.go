package ignore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

// patternsPerRun is how many patterns, and about how many paths, the comparison with git covers.
const patternsPerRun = 1000

// TestAgreesWithGit asks git check-ignore about every path of generated trees.
func TestAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	rounds := effort.Rounds(8, 40, 40)
	paths := 0
	for seed := range rounds {
		tree := newGitTree(t, uint64(seed), patternsPerRun/rounds)
		tree.compare(t)
		paths += len(tree.paths)
	}
	if paths < patternsPerRun && effort.Is(effort.Short) {
		t.Errorf("only %d paths were compared", paths)
	}
}

// gitTree is one generated repository.
type gitTree struct {
	dir   string
	env   []string
	rng   *rand.Rand
	paths []string // folders end with a slash
	rules map[string]string
}

func newGitTree(t *testing.T, seed uint64, patterns int) *gitTree {
	g := &gitTree{dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 7)), rules: map[string]string{}}
	home := t.TempDir()
	g.env = []string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
	g.git(t, nil, "init", "-q")
	g.folder(t, "", 0)
	g.write(t, home+"/.gitconfig", "[core]\n\texcludesFile = \"~/my ignores\" ; mine\n")
	files := []string{home + "/my ignores", g.dir + "/.git/info/exclude", g.dir + "/.gitignore"}
	for _, p := range g.paths {
		if strings.HasSuffix(p, "/") && g.rng.IntN(3) == 0 {
			files = append(files, g.dir+"/"+p+".gitignore")
		}
	}
	share := max(1, patterns/len(files))
	for _, file := range files {
		var text strings.Builder
		for range share {
			text.WriteString(g.pattern() + []string{"\n", "\n", "\n", "\r\n"}[g.rng.IntN(4)])
		}
		g.rules[file] = text.String()
		g.write(t, file, text.String())
	}
	return g
}

var treeNames = []string{
	"a", "b", "ab", "aab", "foo", "bar", "foo.txt", "bar.go", "x.tar.gz", ".hid", "a b", "end ", "[x]",
	"é", "ü.txt", "\\q", "!n", "#c", "-", "A", "build", "line\nbreak", "\xff\xfe", "a*b", "b?", "1", "]",
}

func (g *gitTree) name() string { return treeNames[g.rng.IntN(len(treeNames))] }

func (g *gitTree) folder(t *testing.T, at string, depth int) {
	seen := map[string]bool{}
	for range 4 + g.rng.IntN(4) {
		name := g.name()
		if seen[name] {
			continue
		}
		seen[name] = true
		if depth < 3 && g.rng.IntN(5) < 2 {
			if err := os.Mkdir(g.dir+"/"+at+name, 0o755); err != nil {
				t.Fatal(err)
			}
			g.paths = append(g.paths, at+name+"/")
			g.folder(t, at+name+"/", depth+1)
			continue
		}
		g.write(t, g.dir+"/"+at+name, "")
		g.paths = append(g.paths, at+name)
	}
}

// pattern makes a pattern: a real path, bent, or free combinations of the grammar.
func (g *gitTree) pattern() string {
	p := ""
	if len(g.paths) > 0 && g.rng.IntN(2) == 0 {
		p = g.bend(g.paths[g.rng.IntN(len(g.paths))])
	} else {
		for range 1 + g.rng.IntN(5) {
			p += g.piece()
		}
	}
	p = strings.ReplaceAll(p, "\n", "?")
	switch g.rng.IntN(8) {
	case 0:
		p = "/" + p
	case 1:
		p += "/"
	case 2:
		p += strings.Repeat(" ", 1+g.rng.IntN(2))
	case 3:
		p = "**/" + p
	}
	if g.rng.IntN(4) == 0 {
		p = "!" + p
	}
	return p
}

func (g *gitTree) piece() string {
	pieces := []string{
		"*", "**", "?", "/", "/", "**/", "/**", "/**/", "[a-c]", "[!a]", "[^a-z]", "[]]", "[]-]", "[a", "[[:alpha:]]",
		"[[:space:]x]", "[[:bad:]]", "[[:]", "[\\a-c]", "[a-\\c]", "[--z]", "[z-a]", "\\", "\\*", "\\ ", ".", ".txt", "a", "b", " ",
		"[[:punct:]]", "[![:alnum:]]", "\xff", "[\xc3]", "[/]", "\t", "\\/", "**\\/",
	}
	if g.rng.IntN(3) == 0 {
		return g.name()
	}
	return pieces[g.rng.IntN(len(pieces))]
}

// bend drops leading folders of a path or replaces parts of it with wildcards.
func (g *gitTree) bend(p string) string {
	parts := strings.Split(p, "/")
	parts = parts[g.rng.IntN(len(parts)):]
	for i := range parts {
		switch g.rng.IntN(6) {
		case 0:
			parts[i] = "**"
		case 1:
			parts[i] = "*"
		case 2:
			if len(parts[i]) > 0 {
				k := g.rng.IntN(len(parts[i]))
				parts[i] = parts[i][:k] + g.piece() + parts[i][k+1:]
			}
		}
	}
	return strings.Join(parts, "/")
}

func (g *gitTree) write(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (g *gitTree) git(t *testing.T, stdin []byte, args ...string) []byte {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, g.env, bytes.NewReader(stdin)
	out, err := cmd.Output()
	// Status 1 of check-ignore means that no path is ignored.
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("git %v: %v", args, err)
	}
	return out
}

// compare asks git and ourselves about every path.
func (g *gitTree) compare(t *testing.T) {
	t.Helper()
	var stdin bytes.Buffer
	for _, p := range g.paths {
		stdin.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	ignored := map[string]bool{}
	for _, p := range strings.Split(string(g.git(t, stdin.Bytes(), "check-ignore", "--no-index", "-z", "--stdin")), "\x00") {
		ignored[p] = true
	}
	finder := g.finder()
	for _, p := range g.paths {
		want := ignored[strings.TrimSuffix(p, "/")]
		if got := walkTo(finder, g.dir, p); got != want {
			t.Errorf("ignored(%q) = %v, git says %v\n%s", p, got, want, g.blame(t, p))
		}
	}
}

func (g *gitTree) finder() Finder {
	return Finder{Env: func(name string) string {
		for _, kv := range g.env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}}
}

// blame tells which pattern git points to, and all rules of the tree.
func (g *gitTree) blame(t *testing.T, p string) string {
	out := g.git(t, []byte(strings.TrimSuffix(p, "/")+"\x00"), "check-ignore", "--no-index", "-z", "-v", "-n", "--stdin")
	return fmt.Sprintf("git: %q\nrules: %q", out, g.rules)
}

// walkTo decides about a path as a walk would: an ignored folder settles what is below.
func walkTo(f Finder, dir, path string) bool {
	l := f.Root(dir)
	path, isDir := strings.CutSuffix(path, "/")
	parts := strings.Split(path, "/")
	at := dir
	for i, name := range parts {
		var q Query
		q.In(l)
		last := i == len(parts)-1
		if q.Ignored(name, !last || isDir) {
			return true
		}
		at = filepath.Join(at, name)
		if !last {
			l = l.Enter(name, f.filesOf(at, false, true))
		}
	}
	return false
}
