package delicate

import (
	"slices"
	"strings"
	"testing"
)

// Each row is whole, spelled as it is compared, found in any case and at the depth where it counts,
// and found once.
func TestEachNameIsARow(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range Names() {
		at := strings.ReplaceAll(n.Plain(), "*", "x")
		for _, step := range strings.Split(n.Plain(), "/") {
			if Fold(step) != step || step == "" {
				t.Errorf("%s: %q is not spelled as it is compared", n.Path, step)
			}
		}
		if n.Program == "" || n.Runs == "" || seen[n.Path] {
			t.Errorf("%+v: it lacks its program, or stands there twice", n)
		}
		seen[n.Path] = true
		find := In
		if n.Location == Home {
			find = InHome
		}
		for _, path := range []string{at, strings.ToUpper(at), "deep/" + at} {
			found, ok := find(path, File)
			if want := n.Location == Anywhere || !strings.HasPrefix(path, "deep/"); ok != want || ok && found.Plain() != at {
				t.Errorf("%s: found %q, %v; want %v", path, found.Path, ok, want)
			}
		}
		if _, ok := find(at+"/below", File); ok != n.Folder() {
			t.Errorf("what lies in %s: found %v", n.Path, ok)
		}
		if dir, _, several := strings.Cut(at, "/"); several {
			if _, ok := find(dir, Moved); !ok {
				t.Errorf("a link at %s may lead to %s, and is not found", dir, n.Path)
			}
		}
		if last := at[strings.LastIndex(at, "/")+1:]; !Ends(last) {
			t.Errorf("%s ends no row", last)
		}
	}
	for _, path := range append(ordinary(), "a/HEAD", ".", "..", "") {
		if n, ok := In(path, File); ok {
			t.Errorf("%s is taken for %s", path, n.Path)
		}
	}
	for _, name := range PlaceholderNames() {
		if _, ok := In(name, File); !ok {
			t.Errorf("an empty folder would stand for %s, which is not on the list", name)
		}
	}
	for _, path := range []string{".VSCode\u200b/tasks.json", ".vscode./tasks.json", ".vscode /tasks.json", ".g\u200bitattributes"} {
		if _, ok := In(path, File); !ok {
			t.Errorf("%q is not found, which some file systems take for a name on the list", path)
		}
	}
	if !Store(".GIT ") || !Store("git~1") || Store(".gitignore") || slices.ContainsFunc([]string{".hg", ".jj", ".adze"}, func(s string) bool { return !Store(s) }) {
		t.Error("the folders of version control")
	}
}

// ordinary are examples of what is not on the list.
func ordinary() []string {
	return []string{
		"package.json", "pnpm-workspace.yaml", "tsconfig.json", "eslint.config.js", ".prettierrc", "Makefile", "justfile", "Dockerfile", "compose.yaml",
		"CMakeLists.txt", "build.gradle", "gradlew", "pom.xml", "go.mod", "Cargo.toml", "build.rs", "pyproject.toml", "setup.py", "conftest.py", "tox.ini",
		"Gemfile", "Rakefile", ".gitignore", ".editorconfig", ".env.example", ".nvmrc", ".python-version", ".dockerignore", ".github/workflows/ci.yml",
		".gitlab-ci.yml", "AGENTS.md", "CLAUDE.md", ".cargo/registry/x", ".yarn/cache/x", "src/bin/main.rs", "tools/gen.go", "vscode/a", "config.toml",
		"node_modules/x/.npmrc", "node_modules/@a/b/.vscode/settings.json", "lib/python3/site-packages/x/.gitattributes", ".hg/dirstate", ".jj/working_copy/x",
	}
}
