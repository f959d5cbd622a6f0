package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/files/workspace"
)

func TestResolveNamesTheObject(t *testing.T) {
	p := open(t)
	p.put("a/b.txt", "x")
	p.put("@types/index.d.ts", "x")
	p.put(p.out+"/o.txt", "x")
	p.link("a", "rel")
	p.link(filepath.Join(p.dir, "a"), "abs")
	p.link(p.out, "away")
	p.link("nowhere", "dangling")
	cases := []struct {
		name, display              string
		outside, protected, exists bool
	}{
		{name: "a/b.txt", display: "a/b.txt", exists: true},
		{name: "@a/b.txt", display: "a/b.txt", exists: true},
		{name: "@types/index.d.ts", display: "@types/index.d.ts", exists: true},
		{name: "./a//../a/b.txt", display: "a/b.txt", exists: true},
		{name: "", display: ".", exists: true},
		{name: p.dir, display: ".", exists: true},
		{name: p.dir + "/a/b.txt", display: "a/b.txt", exists: true},
		{name: "rel/b.txt", display: "a/b.txt", exists: true},
		{name: "abs/b.txt", display: "a/b.txt", exists: true},
		{name: "new/deep/file", display: "new/deep/file"},
		{name: "dangling", display: "nowhere"},
		{name: "a/b.txt/below", display: "a/b.txt/below"},
		{name: "../out/o.txt", display: p.out + "/o.txt", outside: true, exists: true},
		{name: "away/o.txt", display: p.out + "/o.txt", outside: true, exists: true},
		{name: "away/../project/a/b.txt", display: "a/b.txt", exists: true}, // the parent is the target's
		{name: "~/o.txt", display: p.out + "/o.txt", outside: true, exists: true},
		{name: "~", display: p.out, outside: true, exists: true},
		{name: p.dir + "-more/x", display: p.dir + "-more/x", outside: true},
		{name: ".git/config", display: ".git/config", protected: true},
		{name: "sub/.GIT/hooks/pre-commit", display: "sub/.GIT/hooks/pre-commit", protected: true},
		{name: ".g\u200cit/config", display: ".g\u200cit/config", protected: true},
		{name: ".adze/rules", display: ".adze/rules", protected: true},
		{name: ".gitignore", display: ".gitignore"},
	}
	for _, c := range cases {
		got := p.resolve(c.name)
		if got.Display() != c.display || got.Outside() != c.outside || got.Protected() != c.protected || got.Exists() != c.exists {
			t.Errorf("%q: display %q outside %v protected %v exists %v; want %+v",
				c.name, got.Display(), got.Outside(), got.Protected(), got.Exists(), c)
		}
	}
}

func TestResolveSeesProtectionThroughLinks(t *testing.T) {
	p := open(t)
	p.put(".git/config", "x")
	p.link(".git", "innocent")
	if got := p.resolve("innocent/config"); !got.Protected() || got.Display() != ".git/config" {
		t.Errorf("got %q protected %v", got.Display(), got.Protected())
	}
	p.link(".git/hooks/post-commit", "new-hook") // the target does not exist yet
	if got := p.resolve("new-hook"); !got.Protected() {
		t.Errorf("a link to a missing hook is not protected: %q", got.Display())
	}
}

func TestResolveRefuses(t *testing.T) {
	p := open(t)
	p.put("file", "x")
	p.link("loop2", "loop1")
	p.link("loop1", "loop2")
	for name, want := range map[string]string{
		"a\x00b":                 workspace.InvalidInput,
		"loop1":                  workspace.IO,
		"missing/../out":         workspace.NotFound,
		"file/../file":           workspace.NotFound, // bash 5.3: Not a directory
		"file/./x/../..":         workspace.NotFound,
		strings.Repeat("x", 300): workspace.InvalidInput,
	} {
		if _, err := p.root.Resolve(name); code(err) != want {
			t.Errorf("%.20q: code %q (%v), want %q", name, code(err), err, want)
		}
	}
}

func TestResolveNoticesAReplacedRoot(t *testing.T) {
	p := open(t)
	if err := os.Rename(p.dir, p.dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := p.root.Resolve("x"); code(err) != workspace.IO || !strings.Contains(err.Error(), "moved") {
		t.Errorf("got %v", err)
	}
}

func TestOpenNeedsAFolder(t *testing.T) {
	p := open(t)
	file := p.put("file", "x")
	if _, err := workspace.Open(file); err == nil {
		t.Error("a file was opened as a workspace")
	}
	if _, err := workspace.Open(p.dir + "/none"); code(err) != workspace.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestSimilarOffersWhatWasMeant(t *testing.T) {
	p := open(t)
	for _, f := range []string{"main.go", "main_test.go", "README.md", "docs/guide.md", "internal/sessiondb/sqlite.go", "it\u2019s here.txt", "other.bin"} {
		p.put(f, "x")
	}
	for name, want := range map[string]string{
		"mian.go":            "main.go",
		"readme.md":          "README.md",
		"README.txt":         "README.md",
		"it's here.txt":      "it\u2019s here.txt",
		"src/sqlite.go":      "internal/sessiondb/sqlite.go",
		"dosc/guide.md":      "docs",
		"internal/sqlite.go": "internal/sessiondb/sqlite.go",
	} {
		got := p.root.Similar(p.resolve(name))
		if len(got) == 0 || len(got) > 3 || got[0] != want {
			t.Errorf("%s: got %q, want %q first", name, got, want)
		}
	}
	if got := p.root.Similar(p.resolve("zzzzqqqq")); len(got) != 0 {
		t.Errorf("offered %q for nothing alike", got)
	}
}

// Where names lead is what Resolve says of each, also where folders on the way are links, and what
// changes between two calls is seen by the second.
func TestLeadSaysWhatResolveSays(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"work", "real/deep", "other/deep"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(base, "link")
	root, err := workspace.Open(filepath.Join(base, "work"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	names := []string{
		link + "/deep", link + "/deep/config.json", link + "/missing/x", link, "a.txt", ".", "../real/deep",
		link + "/deep/../../other", link + "/missing/../x", filepath.Join(base, "round/x"), "/", "~/x",
	}
	if err := os.Symlink("round", filepath.Join(base, "round")); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"real", "other", "../nowhere"} {
		os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		for i, got := range root.Lead(names) {
			want := ""
			if p, err := root.Resolve(names[i]); err == nil {
				want = p.Abs()
			}
			if got != want {
				t.Errorf("link to %s: %s leads to %q, Resolve says %q", to, names[i], got, want)
			}
		}
	}
}
