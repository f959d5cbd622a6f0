// Package nodetest lets tests use programs and libraries from npm: MCP servers and clients, an
// editor's side of a protocol, stream decoders.
//
// The one rule: versions come from .ci/npm/package.json, which .ci/run installs; without them a
// test is skipped.
//
// Start reading at Modules. Known limits: an older installation is used if it has the package.
package nodetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adze/internal/testkit/effort"
)

// Modules returns the absolute path of node_modules for a test that needs all packages:
// $ADZE_NPM/node_modules, by default adze-ci-npm in the user's cache folder. It skips the test
// without node or a package, and at the default effort.
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

// Program returns the absolute path of a package's command, such as mcp-server-everything.
func Program(t testing.TB, pkg, name string) string {
	t.Helper()
	path := filepath.Join(Modules(t, pkg), ".bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the npm package %s brings no command %s", pkg, name)
	}
	return path
}

// Script writes a JavaScript module (its name should end in .mjs) into a new folder where it can
// import the packages by name, and returns its absolute path for node.
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
