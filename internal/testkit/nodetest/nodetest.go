// Package nodetest lets tests talk with programs and libraries of the npm registry: MCP servers and
// clients, an editor's side of a protocol, decoders of a stream.
//
// The one rule: the versions are those of .ci/npm/package.json, which .ci/run installs; where they
// are not, a test says so and is skipped.
//
// Start reading at Modules. Known limits: what was installed for an older package.json is used as
// long as it has the package.
package nodetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adze/internal/testkit/effort"
)

// Modules is the absolute path of the folder node_modules, for a test that needs all packages; it
// is $ADZE_NPM/node_modules, by default adze-ci-npm in the user's cache folder. Without node or
// one of the packages, and in the usual run, the test is skipped.
func Modules(t testing.TB, packages ...string) string {
	t.Helper()
	effort.Needs(t, effort.Short, "what talks with programs of the npm registry")
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	root := os.Getenv("ADZE_NPM")
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("no folder for caches:", err)
		}
		root = filepath.Join(cache, "adze-ci-npm")
	}
	modules := filepath.Join(root, "node_modules")
	for _, name := range packages {
		if _, err := os.Stat(filepath.Join(modules, filepath.FromSlash(name), "package.json")); err != nil {
			t.Skipf("the npm package %s is not in %s (.ci/run installs it)", name, root)
		}
	}
	return modules
}

// Program is the absolute path of a command that one of the packages brings, such as
// mcp-server-everything.
func Program(t testing.TB, pkg, name string) string {
	t.Helper()
	path := filepath.Join(Modules(t, pkg), ".bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the npm package %s brings no command %s", pkg, name)
	}
	return path
}

// Script writes a module of JavaScript (its name should end in .mjs) into a folder of its own in
// which it can import the packages by their names, and returns its absolute path: run it with node.
func Script(t testing.TB, name, text string, packages ...string) string {
	t.Helper()
	modules := Modules(t, packages...)
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
