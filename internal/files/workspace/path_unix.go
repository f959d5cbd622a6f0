//go:build unix

package workspace

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// spelled takes every name.
func spelled(name, _ string) (string, error) { return name, nil }

// top is the folder that a path begins at, seen from the folder at, and the rest of the path.
func top(path, at string) (folder, rest string) {
	if filepath.IsAbs(path) {
		return "/", path
	}
	return at, path
}

// machine is the absolute path of what FS.OpenDir opens.
const machine = "/"

func parts(path string) []string { return strings.Split(path, "/") }

// split is the names that lead to a path, without empty ones.
func split(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
}

// cutFolder is a path relative to a folder that it begins with.
func cutFolder(path, folder string) (rest string, inside bool) {
	rest, inside = strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	if rest, below := strings.CutPrefix(rest, "/"); inside && below {
		return rest, true
	}
	return path, false
}

// sameName reports two spellings of one path.
func sameName(a, b string) bool { return a == b }

// leads reports what leads elsewhere.
func leads(mode fs.FileMode) bool { return mode&fs.ModeSymlink != 0 }

// entryName is the name that the last part of a path has in its folder.
func entryName(path string) string { return filepath.Base(path) }
