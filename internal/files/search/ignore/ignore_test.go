package ignore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func ask(r *Rules, path string, dir bool) Verdict {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return r.Match([]byte(path), []byte(name), dir)
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		rules, path string
		want        Verdict
	}{
		{"*.log", "a/b.log", Ignored},
		{"*.log\n!keep.log", "keep.log", Included},
		{"!keep.log\n*.log", "keep.log", Ignored},
		{"/top", "sub/top", None},
		{"/top", "top", Ignored},
		{"a/b", "x/a/b", None},
		{"**/a/b", "x/a/b", Ignored},
		{"a/**/b", "a/b", Ignored},
		{"a/**/b", "a/x/y/b", Ignored},
		{"a/**", "a", None},
		{"a/**", "a/x", Ignored},
		{"a**/b", "ax/y/b", Ignored},
		{"a*/b", "ax/y/b", None},
		{"dir/", "dir", None},
		{"dir/", "dir/", Ignored},
		{"trail  ", "trail", Ignored},
		{`trail\ `, "trail ", Ignored},
		{"tab\t", "tab", None},
		{"#no", "#no", None},
		{`\#yes`, "#yes", Ignored},
		{`\!yes`, "!yes", Ignored},
		{"cr\r\nx", "cr", Ignored},
		{"\xef\xbb\xbfbom", "bom", Ignored},
		{"cut\x00off", "cut", Ignored},
		{"?", "é", None},
		{"??", "é", Ignored},
		{"[\x80-\xff]*", "\xff\xfe", Ignored},
		{"[a", "[a", None},
		{"/", "a", None},
		{`a\`, `a\`, None},
	} {
		path, dir := strings.CutSuffix(c.path, "/")
		if got := ask(Parse([]byte(c.rules)), path, dir); got != c.want {
			t.Errorf("%q on %q = %v, want %v", c.rules, c.path, got, c.want)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// bare finds no configuration outside the tree.
func bare(t *testing.T) Finder {
	home := t.TempDir()
	return Finder{Env: func(name string) string {
		switch name {
		case "HOME":
			return home
		case "GIT_CONFIG_NOSYSTEM":
			return "1"
		}
		return ""
	}}
}

func TestDotIgnoreBeatsGitignore(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/.gitignore", "*.gen\n")
	write(t, dir+"/.ignore", "!api.gen\n*.md\n")
	f := bare(t)
	for path, want := range map[string]bool{"api.gen": false, "x.gen": true, "a.md": true, "a.go": false} {
		if got := walkTo(f, dir, path); got != want {
			t.Errorf("%s ignored = %v, want %v", path, got, want)
		}
	}
}

func TestSubfolderObeysRulesAbove(t *testing.T) {
	top := t.TempDir()
	write(t, top+"/.git/HEAD", "ref: refs/heads/main\n")
	write(t, top+"/.git/info/exclude", "secret\n")
	write(t, top+"/.gitignore", "/sub/out\n*.o\n")
	write(t, top+"/sub/x", "")
	f := bare(t)
	for path, want := range map[string]bool{"out": true, "a.o": true, "secret": true, "x": false} {
		if got := walkTo(f, top+"/sub", path); got != want {
			t.Errorf("%s ignored = %v, want %v", path, got, want)
		}
	}
}

// ripgrep 15.0.0 (`rg --files` in the folder that is looked into): .ignore files count from all
// folders above, .gitignore files only inside a repository, of git or of jj, and of the nearest one.
func TestFilesAboveCountAsInRipgrep(t *testing.T) {
	for name, c := range map[string]struct{ files, want string }{
		"no repository":         {"", "tmp"},
		"git at the top":        {".git/HEAD", "log tmp"},
		"jj at the top":         {".jj/repo/x", "log tmp"},
		"git below the files":   {"a/.git/HEAD", "tmp"},
		"jj in one of git":      {".git/HEAD a/.jj/repo/x", "tmp"},
		"git that leads astray": {".git", "log tmp"},
	} {
		top := t.TempDir()
		for _, file := range strings.Fields(c.files) {
			write(t, top+"/"+file, "")
		}
		write(t, top+"/.gitignore", "*.log\n")
		write(t, top+"/.ignore", "*.tmp\n")
		write(t, top+"/a/b/x", "")
		var got []string
		for _, ext := range []string{"go", "log", "tmp"} {
			if walkTo(bare(t), top+"/a/b", "x."+ext) {
				got = append(got, ext)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q are ignored, want %q", name, got, c.want)
		}
	}
}

func TestNestedRepositoryStartsAfresh(t *testing.T) {
	top := t.TempDir()
	write(t, top+"/.gitignore", "*.o\n")
	write(t, top+"/.ignore", "*.tmp\n")
	f := bare(t)
	outer := f.Root(top)
	inner := outer.Enter("inner", Files{Repo: true, Git: Parse([]byte("/b\n")), Excludes: []*Rules{Parse([]byte("/deep/c"))}})
	deep := inner.Enter("deep", Files{})
	for _, c := range []struct {
		level *Level
		name  string
		want  bool
	}{
		{outer, "x.o", true}, {inner, "x.o", false}, {inner, "x.tmp", true}, {inner, "b", true},
		{deep, "b", false}, {deep, "c", true}, {inner, "c", false},
	} {
		var q Query
		q.In(c.level)
		if got := q.Ignored(c.name, false); got != c.want {
			t.Errorf("%s in %q ignored = %v, want %v", c.name, c.level.prefix, got, c.want)
		}
	}
}

func TestLinkedWorkTreeReadsCommonExcludes(t *testing.T) {
	top := t.TempDir()
	write(t, top+"/main/.git/info/exclude", "hidden-from-all\n")
	write(t, top+"/main/.git/worktrees/w/commondir", "../..\n")
	write(t, top+"/w/.git", "gitdir: ../main/.git/worktrees/w\n")
	if !walkTo(bare(t), top+"/w", "hidden-from-all") {
		t.Error("the excludes of the common folder were not read")
	}
}

func TestConfigValues(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/git/config", "[user]\nname=x\n[core]\n  excludesfile = first\n[include]\npath = more\n")
	write(t, dir+"/git/more", "[core]\nexcludesFile = \"a b\\\\\\\nc\" # note\n[core \"sub\"]\nexcludesFile=no\n")
	f := Finder{Env: func(name string) string {
		return map[string]string{"XDG_CONFIG_HOME": dir, "GIT_CONFIG_NOSYSTEM": "1"}[name]
	}}
	if got, want := f.excludesFile("/top", ""), `/top/a b\c`; got != want {
		t.Errorf("excludesFile = %q, want %q", got, want)
	}
}

// TestHostilePatternIsQuick would run for years with an unbounded backtracker; the test's own time
// limit is what fails then.
func TestHostilePatternIsQuick(t *testing.T) {
	r := Parse([]byte(strings.Repeat("**/a*", 200) + "*b\n" + strings.Repeat("*a", 400) + "b"))
	start := time.Now()
	if v := ask(r, strings.Repeat("aa/", 300)+strings.Repeat("a", 600), false); v != None {
		t.Errorf("verdict %v", v)
	}
	t.Logf("took %v", time.Since(start))
}
