package lsp

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of what is looked at beside a file that was changed.
const (
	maxIndexed  = 20000     // files and folders of a project
	maxImporter = 512 << 10 // bytes of a file whose imports are read
	maxUsers    = 24        // files that use a changed one
)

// imports know, for the files of a project, what each names where it imports others. What it finds
// is a hint: a file too many is looked at for nothing.
type imports struct {
	mu    sync.Mutex
	files map[string]importer
}

type importer struct {
	size  int64
	mtime time.Time
	words []string // last parts of what it imports
}

// users are files that use a changed one, straight or through others.
type users struct {
	paths []string
	more  bool // there are others
	known bool // how files of this language use others is known
}

// syntaxes finds what a file imports, by the ending of its name; each match is a path or a list of
// names.
var syntaxes = sync.OnceValue(func() map[string]*regexp.Regexp {
	script := regexp.MustCompile(`(?:\bfrom|\bimport|\brequire|\breference\s+path)\s*[(=]?\s*["']([^"'\n]+)["']`)
	python := regexp.MustCompile(`(?m)^\s*(?:from\s+([.\w]+)\s+import\s+(\([^)]*\)|[^\n]+)|import\s+([^\n]+))`)
	include := regexp.MustCompile(`(?m)^\s*#\s*(?:include|import)\s*[<"]([^>"\n]+)[>"]`)
	rust := regexp.MustCompile(`\b(\w+)::|\bmod\s+(\w+)|\buse\s+(\w+)`)
	out := map[string]*regexp.Regexp{".py": python, ".pyi": python, ".rs": rust}
	for _, ending := range []string{".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs"} {
		out[ending] = script
	}
	for _, ending := range []string{".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"} {
		out[ending] = include
	}
	return out
})

// words are the last parts of what a text imports.
func words(text string, syntax *regexp.Regexp) (out []string) {
	for _, m := range syntax.FindAllStringSubmatch(text, -1) {
		for _, group := range m[1:] {
			for _, name := range strings.FieldsFunc(group, func(r rune) bool { return strings.ContainsRune(" \t\r\n,();\\", r) }) {
				if word := lastPart(name); !slices.Contains(out, word) {
					out = append(out, word)
				}
			}
		}
	}
	return out
}

// lastPart is the name of the file that an import means, without its ending; of a folder, index.
func lastPart(name string) string {
	name = strings.TrimSuffix(name, "/")
	if base := filepath.Base(name); base == "." || base == ".." {
		return "index"
	}
	name = filepath.Base(name)
	if syntaxes()[ending(name)] != nil {
		return strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name[strings.LastIndexByte(name, '.')+1:] // of Python's dotted names the last
}

// names are how others may import a file.
func names(path string) []string {
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	stem = strings.TrimSuffix(stem, ".d")
	folder := filepath.Base(filepath.Dir(path))
	switch stem {
	case "index":
		return []string{stem, folder}
	case "__init__", "mod":
		return []string{folder}
	case "lib", "main":
		if ending(path) == ".rs" {
			return []string{"crate", "super"}
		}
	}
	out := []string{stem}
	if dot := strings.LastIndexByte(stem, '.'); dot > 0 { // of "./user.model" the last part counts
		out = append(out, stem[dot+1:])
	}
	return out
}

// skipped names folders that hold no source of the project.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"node_modules", "target", "dist", "build", "out", "vendor", "venv", "env", "__pycache__", "site-packages"}, name)
}

// users are the files below root that use a file. It reads those that changed since it looked last.
func (x *imports) users(ctx context.Context, root, path string, withheld func(string) bool) users {
	if syntaxes()[ending(path)] == nil {
		return users{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	whole := x.look(ctx, root)
	out := users{known: true, more: !whole}
	syntax := syntaxes()[ending(path)]
	for queue := []string{path}; len(queue) > 0; queue = queue[1:] {
		wanted := names(queue[0])
		var found []string
		for at, i := range x.files {
			uses := slices.ContainsFunc(i.words, func(w string) bool { return slices.Contains(wanted, w) })
			if uses && at != path && syntaxes()[ending(at)] == syntax && !slices.Contains(out.paths, at) && (withheld == nil || !withheld(at)) {
				found = append(found, at)
			}
		}
		slices.Sort(found)
		for _, at := range found {
			if len(out.paths) == maxUsers {
				out.more = true
				return out
			}
			out.paths, queue = append(out.paths, at), append(queue, at)
		}
	}
	return out
}

// look brings the index up to date; if false, there was more than it takes.
func (x *imports) look(ctx context.Context, root string) (whole bool) {
	seen, now := 0, map[string]importer{}
	whole = true
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // what cannot be read uses nothing
		switch {
		case ctx.Err() != nil:
			whole = false
			return filepath.SkipAll
		case err != nil:
			return nil
		case e.IsDir() && path != root && skipped(e.Name()):
			return filepath.SkipDir
		}
		if seen++; seen > maxIndexed {
			whole = false
			return filepath.SkipAll
		}
		syntax := syntaxes()[ending(path)]
		if syntax == nil || !e.Type().IsRegular() {
			return nil
		}
		info, err := e.Info()
		if err != nil || info.Size() > maxImporter {
			return nil
		}
		i, known := x.files[path]
		if !known || i.size != info.Size() || !i.mtime.Equal(info.ModTime()) {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil
			}
			i = importer{info.Size(), info.ModTime(), words(string(raw), syntax)}
		}
		now[path] = i
		return nil
	})
	x.files = now
	return whole
}
