//go:build unix

package workspace

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// spelled accepts every name.
func spelled(name, _ string) (string, error) { return name, nil }

// top splits a path into its starting folder, given the current folder at, and the rest.
func top(path, at string) (folder, rest string) {
	if filepath.IsAbs(path) {
		return "/", path
	}
	return at, path
}

// machine is the absolute path opened by FS.OpenDir.
const machine = "/"

func parts(path string) []string { return strings.Split(path, "/") }

func split(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
}

func cutFolder(path, folder string) (rest string, inside bool) {
	rest, inside = strings.CutPrefix(path, strings.TrimSuffix(folder, "/"))
	if rest, below := strings.CutPrefix(rest, "/"); inside && below {
		return rest, true
	}
	return path, false
}

func sameName(a, b string) bool { return a == b }

// leads reports whether mode is a symbolic link.
func leads(mode fs.FileMode) bool { return mode&fs.ModeSymlink != 0 }

// entryName returns the last path element as stored in its folder.
func entryName(path string) string { return filepath.Base(path) }
