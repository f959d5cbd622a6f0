package lsp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"adze/internal/sandbox/proc"
)

// An SDK is project code that a language server would run, such as a compiler or build scripts. It
// runs only with the user's consent.
type SDK struct {
	Name   string // typescript, cargo, or an unknown server's name
	Server string // runs it
	// Argv is the command shown to the user. Paths in the project are relative to it.
	Argv []string
	// Files are shown and pinned one by one, relative to the project.
	Files []string
	// Manifest lists all other files covered by the consent: a line with a hash for each.
	Manifest []byte
	Effect   string // the consent's effect, for the user
	Problem  string // why it cannot be allowed
}

// SDKs returns the project code that the language servers would run with consent.
func SDKs(root string, languages []Language, env []string) (out []SDK) {
	for _, l := range languages {
		s, ok := l.sdk(root, env)
		if ok && !slices.ContainsFunc(out, func(o SDK) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

// sdk returns the project code that a language's server would run, or false if there is none.
func (l Language) sdk(root string, env []string) (SDK, bool) {
	if !l.known(root, env) {
		return SDK{Name: l.Name, Server: l.Name, Argv: l.Command, Effect: "adze does not know which code of the project this server runs"}, true
	}
	switch l.Name {
	case typescriptServer, nativeTypeScript:
		return typescriptSDK(root)
	case "rust-analyzer":
		return cargoSDK(root)
	}
	return SDK{}, false
}

// known reports whether this is a server from KnownLanguages, started by its own program outside
// the project. What other servers run is unknown, also for a clangd that may run the project's
// compilers.
func (l Language) known(root string, env []string) bool {
	if slices.ContainsFunc(l.Command, func(w string) bool { return strings.HasPrefix(w, "--query-driver") }) {
		return false
	}
	for _, k := range KnownLanguages() {
		if k.Name != l.Name || len(l.Command) == 0 || filepath.Base(l.Command[0]) != k.Command[0] {
			continue
		}
		program, err := proc.LookPath(l.Command[0], root, env)
		return err != nil || !inFolder(program, root)
	}
	return false
}

// inFolder reports whether a path is in a folder, by name or after resolving links.
func inFolder(path, dir string) bool {
	paths := []string{filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		paths = append(paths, real)
	}
	return slices.ContainsFunc(paths, func(p string) bool {
		rel, err := filepath.Rel(dir, p)
		return err == nil && filepath.IsLocal(rel)
	})
}

// Limits of one consent.
const (
	maxSDKFiles = 5000
	maxSDKBytes = 512 << 20
)

// manifest hashes project files, sorted by name.
type manifest struct {
	root  string
	files []string // relative
	bytes int64
	err   error
}

// add adds existing files, and all files in folders.
func (m *manifest) add(paths ...string) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			if m.files = append(m.files, at); len(m.files) > maxSDKFiles {
				return fmt.Errorf("it has more than %d files", maxSDKFiles)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			m.err = errors.Join(m.err, err)
		}
	}
}

func (m *manifest) text(first string) ([]byte, string) {
	slices.Sort(m.files)
	var b bytes.Buffer
	fmt.Fprintln(&b, first)
	for _, path := range slices.Compact(m.files) {
		sum := sha256.New()
		f, err := os.Open(path)
		if err == nil {
			var info fs.FileInfo
			if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
				err = errors.New("it is not a regular file")
			}
			if err == nil && !info.IsDir() { // a link to a folder counts by its name
				var n int64
				n, err = io.Copy(sum, io.LimitReader(f, maxSDKBytes-m.bytes+1))
				if m.bytes += n; m.bytes > maxSDKBytes {
					err = fmt.Errorf("it has more than %d MiB", maxSDKBytes>>20)
				}
			}
			f.Close()
		}
		if err != nil {
			m.err = errors.Join(m.err, fmt.Errorf("%s: %w", m.rel(path), err))
			break
		}
		fmt.Fprintf(&b, "%s %s\n", hex.EncodeToString(sum.Sum(nil)), m.rel(path))
	}
	if m.err != nil {
		return nil, m.err.Error()
	}
	return b.Bytes(), ""
}

func (m *manifest) rel(path string) string { return relative(m.root, path) }

func relative(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

type typeScript struct {
	dir     string // without symbolic links
	version string
}

// typeScriptIn reads the package in a folder, or returns false.
func typeScriptIn(dir string) (typeScript, bool) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return typeScript{}, false
	}
	raw, err := os.ReadFile(filepath.Join(real, "package.json"))
	var p struct{ Name, Version string }
	if err != nil || json.Unmarshal(raw, &p) != nil || p.Name != "typescript" {
		return typeScript{}, false
	}
	return typeScript{real, p.Version}, true
}

// native reports whether this version is itself a language server: 7 and later, which have no
// tsserver.js.
func (t typeScript) native() bool {
	major, _, _ := strings.Cut(t.version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 7
}

// tsserver returns the path of tsserver.js, or "" for version 7 and later.
func (t typeScript) tsserver() string {
	path := filepath.Join(t.dir, "lib", "tsserver.js")
	if _, err := os.Stat(path); err != nil || t.native() {
		return ""
	}
	return path
}

// program returns a native version's compiler, which is in a separate package.
func (t typeScript) program() string {
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	name := filepath.Join("@typescript", "typescript-"+runtime.GOOS+"-"+arch, "lib", "tsc")
	for _, modules := range []string{filepath.Join(t.dir, "node_modules"), filepath.Dir(t.dir)} {
		if path, err := filepath.EvalSymlinks(filepath.Join(modules, name)); err == nil && t.native() {
			return path
		}
	}
	return ""
}

func typescriptSDK(root string) (SDK, bool) {
	t, ok := typeScriptIn(filepath.Join(root, "node_modules", "typescript"))
	if !ok {
		return SDK{}, false
	}
	m := &manifest{root: root}
	m.add(filepath.Join(t.dir, "package.json"))
	if program := t.program(); program != "" {
		s := SDK{Name: "typescript", Server: nativeTypeScript, Argv: []string{relative(root, program), "--lsp", "--stdio"},
			Files: []string{relative(root, program)}, Effect: "files are checked with the project's TypeScript " + t.version}
		s.Manifest, s.Problem = m.text(t.version)
		return s, true
	}
	server := t.tsserver()
	if server == "" {
		return SDK{}, false
	}
	libs, _ := filepath.Glob(filepath.Join(t.dir, "lib", "*.js")) // the pattern is valid
	// tsserver does not load the compiler's own program.
	libs = slices.DeleteFunc(libs, func(path string) bool { return filepath.Base(path) == "_tsc.js" })
	m.add(libs...)
	plugins := pluginsOf(root)
	for _, name := range plugins {
		if dir, err := filepath.EvalSymlinks(filepath.Join(root, "node_modules", filepath.FromSlash(name))); err == nil {
			m.add(dir)
		}
	}
	s := SDK{Name: "typescript", Server: typescriptServer, Argv: []string{"node", relative(root, server)}, Files: []string{relative(root, server)},
		Effect: "files are checked with the project's TypeScript " + t.version}
	if len(plugins) > 0 {
		s.Effect += " and its plugins " + strings.Join(plugins, ", ")
	}
	s.Manifest, s.Problem = m.text(t.version)
	return s, true
}

// pluginsOf returns the tsserver plugins named in the project's configurations. It reads them as
// plain text: a false match is only pinned needlessly.
func pluginsOf(root string) (names []string) {
	var paths []string
	for _, pattern := range []string{"tsconfig*.json", "jsconfig*.json"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern)) // the pattern is valid
		paths = append(paths, found...)
	}
	name := regexp.MustCompile(`"name"\s*:\s*"([^"\\]+)"`)
	extends := regexp.MustCompile(`"(\.{1,2}/[^"\\]+|[^"\\]*tsconfig[^"\\]*)"`)
	for i := 0; i < len(paths) && i < 50; i++ {
		text, err := readText(paths[i])
		if err != nil {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(text, -1) {
			if filepath.IsLocal(m[1]) && !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
		for _, m := range extends.FindAllStringSubmatch(text, -1) {
			for _, base := range []string{filepath.Dir(paths[i]), filepath.Join(root, "node_modules")} {
				at := filepath.Join(base, m[1])
				if filepath.Ext(at) != ".json" {
					at += ".json"
				}
				if !slices.Contains(paths, at) {
					paths = append(paths, at)
				}
			}
		}
	}
	return names
}

// maxIndexed limits the scanned files and folders.
const maxIndexed = 20000

// skipped reports folders without the project's source code.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"node_modules", "target", "dist", "build", "out", "vendor", "venv", "env", "__pycache__", "site-packages"}, name)
}

// cargoSDK returns an SDK for every Rust project: cargo runs programs from its configuration before
// it reads any source.
func cargoSDK(root string) (SDK, bool) {
	m := &manifest{root: root}
	names := []string{"Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml", "rust-analyzer.toml", ".rust-analyzer.toml"}
	seen, all := 0, false
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case e.IsDir() && path != root && skipped(e.Name()) && e.Name() != ".cargo":
			return filepath.SkipDir
		}
		if seen++; seen > maxIndexed {
			all = true
			return filepath.SkipAll
		}
		if !e.IsDir() && (slices.Contains(names, e.Name()) || filepath.Base(filepath.Dir(path)) == ".cargo") {
			m.files = append(m.files, path)
		}
		return nil
	})
	s := SDK{Name: "cargo", Server: "rust-analyzer", Argv: []string{"cargo", "check"}, Effect: "rust-analyzer runs the project's build scripts, macros and what its configuration of cargo names"}
	if _, there := os.Stat(filepath.Join(root, "Cargo.toml")); there == nil {
		s.Files = []string{"Cargo.toml"}
	}
	s.Manifest, s.Problem = m.text("cargo")
	if err != nil || all {
		s.Problem = "it has too many files to be pinned"
	}
	return s, true
}
