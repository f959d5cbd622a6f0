package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// planted makes a folder with files in it.
func planted(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, ".git/HEAD") {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if filepath.Base(name) == "run" {
			mode = 0o755
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWhatAProgramTakesFromItsFolder(t *testing.T) {
	dir := planted(t, "Makefile", "node_modules/x/index.js", "go.mod", "tools/check.py", "tools/run", "notes.txt", "rust-toolchain.toml", ".prettierrc", "pkg/empty/x")
	for command, want := range map[string]string{
		"npx prettier":              "npx takes what it runs from node_modules",
		"/usr/bin/npx prettier":     "npx takes what it runs from node_modules",
		"prettier --stdin {file}":   "prettier takes what it runs from node_modules",
		"make fmt":                  "make takes what it runs from Makefile",
		"go test ./...":             "go takes what it runs from go.mod",
		"go run ./cmd":              "go takes what it runs from go.mod",
		"go run x.example/y@v1.0.0": "",
		"go vet ./...":              "",
		"gofmt":                     "",
		"rustfmt":                   "rustfmt takes what it runs from rust-toolchain.toml",
		"python3 tools/check.py":    "it runs tools/check.py",
		"tools/run":                 "it runs tools/run",
		"./tools/run":               "it runs ./tools/run",
		"cat notes.txt":             "",
		"node -e x":                 "node takes what it runs from node_modules",
		"node /opt/x.js":            "",
		"lua /opt/x.lua":            "lua takes what it runs from .",
		"java -jar /opt/x.jar":      "",
		"python3 -m black -q -":     "",
		"black -q -":                "",
		"~/bin/check":               "",
		"cargo fmt":                 "cargo takes what it runs from rust-toolchain.toml",
		"uvx black":                 "",
		"deno fmt -":                "",
	} {
		for n, p := range []Project{{Dir: dir}, {Dir: filepath.Join(dir, "pkg", "empty")}} {
			if n == 1 && strings.HasPrefix(want, "it runs") || n == 1 && strings.HasSuffix(want, "from .") {
				continue // the same names, in another folder
			}
			for _, got := range []string{p.ProjectCode(strings.Fields(command), ""), p.ProjectCode(nil, "cd . && "+command+" >&2 || exit 2")} {
				if want == "" && got != "" || !strings.HasPrefix(got, want) {
					t.Errorf("%s in %s: %q, want %q", command, p.Dir, got, want)
				}
			}
		}
	}
}

func TestWhatAServerRunsFromTheFolder(t *testing.T) {
	for command, inside := range map[string]bool{
		"npx -y @scope/server-files /ws":      false,
		"npx --prefix /ws server":             true,
		"npx --prefix=/ws server":             true,
		"uvx server /ws":                      false,
		"uv run --directory /ws server.py":    true,
		"uv tool run server /ws":              false,
		"python3 /ws/server.py":               true,
		"python3 -W ignore /ws/server.py":     true,
		"python3 /opt/server.py /ws":          false,
		"python3 -m server /ws":               false,
		"node /ws/index.js":                   true,
		"node /ws":                            true,
		"node /opt/index.js /ws":              false,
		"go run x.example/y@v1 /ws":           false,
		"go run /ws/cmd":                      true,
		"/ws/bin/server":                      true,
		"/opt/server /ws":                     false,
		"docker run -v /ws:/ws image":         false,
		"bash /ws/start.sh":                   true,
		"npm --prefix /ws start":              true,
		"npm exec server /ws":                 false,
		"deno run --allow-read=/ws /opt/x.ts": false,
		"make -C /ws":                         true,
	} {
		if got := RunsFrom(strings.Fields(command), "/ws"); (got != "") != inside {
			t.Errorf("%s: %q", command, got)
		}
	}
}
