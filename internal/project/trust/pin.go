package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Limits of pinning.
const (
	maxPinned = 64 << 20 // bytes of one file
	maxPins   = 64       // files of one item
)

// runners lists the files of the current folder that name the commands a program runs, such as a
// Makefile.
func runners(program string) []string {
	switch program {
	case "make", "gmake":
		return []string{"GNUmakefile", "makefile", "Makefile"}
	case "npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx":
		return []string{"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml"}
	case "just":
		return []string{"justfile", "Justfile", ".justfile"}
	case "task":
		return []string{"Taskfile.yml", "Taskfile.yaml", "taskfile.yml"}
	case "rake":
		return []string{"Rakefile", "rakefile"}
	case "cargo":
		return []string{"Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"}
	case "poetry", "uv", "uvx", "pdm", "hatch", "tox", "nox":
		return []string{"pyproject.toml", "tox.ini", "noxfile.py", "uv.toml"}
	case "docker-compose", "podman-compose":
		return []string{"docker-compose.yml", "compose.yaml", "compose.yml"}
	case "composer":
		return []string{"composer.json"}
	case "gradle", "mvn":
		return []string{"build.gradle", "build.gradle.kts", "settings.gradle", "pom.xml"}
	case "direnv":
		return []string{".envrc"}
	case "deno":
		return []string{"deno.json", "deno.jsonc"}
	case "bundle", "bundler":
		return []string{"Gemfile"}
	}
	return nil
}

// entries lists the files that an interpreter runs if its program is a folder.
func entries(program string) []string {
	switch strings.TrimRight(program, "0123456789.") {
	case "node", "bun", "deno", "tsx":
		return []string{"index.js", "index.mjs", "index.cjs", "index.ts", "package.json"}
	case "python", "pypy", "uv":
		return []string{"__main__.py", "__init__.py"}
	case "php":
		return []string{"index.php"}
	}
	return nil
}

// pin hashes an item's definition and the files that it names.
func (p Project) pin(i *Item) {
	paths := slices.Clone(i.Files)
	i.Files = nil
	if i.Cwd != "" && !filepath.IsLocal(i.Cwd) {
		i.Problem = "its folder is not below the workspace"
		return
	}
	for _, f := range paths { // a declared tool's program, which must exist
		if err := p.pinFile(i, f.Path); err != nil {
			i.Problem = fmt.Sprintf("%s %v", f.Path, err)
			return
		}
	}
	for _, name := range p.named(i) {
		err := p.pinFile(i, name)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			i.Problem = fmt.Sprintf("%s %v", name, err)
			return
		}
	}
	if len(i.Files) > maxPins {
		i.Problem = fmt.Sprintf("it names %d files of the project, at most %d", len(i.Files), maxPins)
		return
	}
	i.seal()
}

func (i *Item) seal() {
	whole, _ := json.Marshal(struct { // strings and lists always encode
		Kind, ID, When, URL, Cwd string
		Argv, Shell, Env         []string
		Files                    []Pinned
		Raw                      []byte
	}{i.Kind, i.ID, i.Trigger, i.URL, i.Cwd, i.Argv, i.Shell, i.Env, i.Files, i.Raw})
	sum := sha256.Sum256(whole)
	i.Hash = hex.EncodeToString(sum[:])
}

// named lists the words in a command that may be project files, relative to the workspace.
func (p Project) named(i *Item) []string {
	var words []string
	for _, w := range i.Argv {
		words = append(words, w)
		words = append(words, pieces(w)...) // sh -c 'text', --config=file
	}
	for _, text := range i.Shell {
		words = append(words, pieces(text)...)
	}
	var out []string
	add := func(name string) {
		if name = path.Clean(name); filepath.IsLocal(name) && name != "." && !data(name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, w := range words {
		w = p.unrooted(w)
		base := path.Base(w)
		for _, first := range runners(base) {
			add(path.Join(i.Cwd, first))
		}
		if p.Local != nil && !strings.Contains(w, "/") && w != "" && !strings.Contains(w, "=") {
			if found := p.Local(w); found != "" {
				add(p.unrooted(found))
			}
		}
		add(path.Join(i.Cwd, w))
		add(w)
		add(path.Join(i.Cwd, strings.ReplaceAll(w, ".", "/")+".py")) // python -m
		for _, of := range words {
			for _, e := range entries(path.Base(of)) {
				add(path.Join(i.Cwd, w, e))
			}
		}
		if len(out) > 64*maxPins {
			break
		}
	}
	return out
}

// data reports whether a file is only data, which nothing runs and which changes with the work.
func data(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".txt", ".rst", ".csv", ".tsv", ".log", ".pdf", ".png", ".jpg", ".jpeg", ".gif", ".out":
		return true
	}
	return false
}

// unrooted removes a variable for the project's folder, as in other assistants' files, from the
// start of a word.
func (p Project) unrooted(word string) string {
	for _, root := range []string{
		p.Dir, "$CLAUDE_PROJECT_DIR", "${CLAUDE_PROJECT_DIR}", "$GEMINI_PROJECT_DIR", "${workspaceFolder}", "${workspaceRoot}", "$PWD", "${PWD}",
	} {
		if rest, ok := strings.CutPrefix(word, root); ok && (rest == "" || rest[0] == '/') {
			return strings.TrimPrefix(rest, "/")
		}
	}
	return word
}

// pieces splits a text at shell separators and quotes, and between an option and its value.
func pieces(text string) []string {
	split := func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;&|<>()=,", r) }
	bare := strings.NewReplacer(`"`, "", "'", "").Replace(text)
	return append(strings.FieldsFunc(text, split), strings.FieldsFunc(bare, split)...)
}

// pinFile adds the hash of a project file. Folders have none. For a link, it hashes the target,
// wherever that is.
func (p Project) pinFile(i *Item, name string) error {
	if slices.ContainsFunc(i.Files, func(f Pinned) bool { return f.Path == name }) {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(p.Dir, filepath.FromSlash(name)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return errors.New("cannot be read")
		}
		return os.ErrNotExist
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil || info.IsDir():
		return os.ErrNotExist
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case info.Size() > maxPinned:
		return fmt.Errorf("has more than %d MiB", maxPinned>>20)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxPinned+1)); err != nil {
		return errors.New("cannot be read")
	}
	i.Files = append(i.Files, Pinned{name, hex.EncodeToString(sum.Sum(nil))})
	return nil
}
