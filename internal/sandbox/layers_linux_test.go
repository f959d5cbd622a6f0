package sandbox_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc/shim/namespace"
)

// A command reads the caches of the user's build tools. Its changes reach the next commands of the
// workspace, also in a later run, and nothing outside.
func TestCommandsReadTheUsersCaches(t *testing.T) {
	b := newViewBench(t)
	b.box.Close()
	for name, content := range map[string]string{".cache/go-build/00/a": "built", ".cargo/registry/x": "crate", ".cargo/credentials.toml": "secret",
		".npm/_cacache/x": "package", "go/pkg/mod/m@v1/m.go": "package m"} {
		b.write(name, content)
	}
	b.box = b.sandbox(sandbox.Namespaces)
	r := b.apart(`cat $GOCACHE/00/a $CARGO_HOME/registry/x $npm_config_cache/_cacache/x $GOMODCACHE/m@v1/m.go && ! cat $CARGO_HOME/credentials.toml &&
		echo poison > $GOCACHE/00/a && echo new > $GOCACHE/00/b && rm $CARGO_HOME/registry/x && mv $GOCACHE/00 $GOCACHE/01`)
	if r.Code != 0 || !strings.Contains(r.Output.Head, "builtcratepackagepackage m") {
		t.Fatalf("%+v", r)
	}
	check := `cat $GOCACHE/01/a $GOCACHE/01/b && test ! -e $CARGO_HOME/registry/x && echo it is so`
	for name, look := range map[string]func() string{
		"the next command": func() string { return b.apart(check).Output.Head },
		"a job":            func() string { return b.run(check).Output.Head },
		"a later run": func() string {
			b.box.Close()
			b.box = b.sandbox(sandbox.Namespaces)
			return b.apart(check).Output.Head
		},
	} {
		if got := look(); got != "poison\nnew\nit is so\n" {
			t.Errorf("%s sees %q", name, got)
		}
	}
	for name, content := range map[string]string{".cache/go-build/00/a": "built", ".cargo/registry/x": "crate"} {
		if data, err := os.ReadFile(filepath.Join(b.home, name)); err != nil || string(data) != content {
			t.Errorf("outside %s is %q, %v", name, data, err)
		}
	}
	if _, err := os.Stat(filepath.Join(b.home, ".cache/go-build/00/b")); err == nil {
		t.Error("a new file is outside")
	}
	beside := b.sandbox(sandbox.Namespaces) // which finds the overlays in use
	if r, err := b.try(t.Context(), beside, "test ! -e $GOCACHE/00/a && echo x > $GOCACHE/own && echo works"); err != nil || r.Output.Head != "works\n" {
		t.Errorf("a second adze: %+v, %v", r, err)
	}
}

// A command runs with its private caches alone where the process that holds the overlays was killed.
func TestCommandsRunWithoutTheHolderOfCaches(t *testing.T) {
	b := newViewBench(t)
	b.box.Close()
	b.write(".cache/go-build/a", "built")
	b.box = b.sandbox(sandbox.Namespaces)
	if r := b.apart("cat $GOCACHE/a"); r.Output.Head != "built" {
		t.Fatalf("%+v", r)
	}
	killed := 0
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		line, _ := os.ReadFile(file)
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && strings.Contains(string(line), namespace.HoldWord) && strings.Contains(string(line), b.state) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			killed++
		}
	}
	if r := b.apart("test ! -e $GOCACHE/a && echo x > $GOCACHE/own && echo works"); killed != 1 || r.Output.Head != "works\n" {
		t.Errorf("%d killed, %+v", killed, r)
	}
}
