//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/overlay/entry"
)

// A database that another program has open cannot be kept apart: both keep each other from writing
// by locks on the file itself. A command that names it works on the real folder where that holds
// nothing else; else it is asked about.

// Bounds of the names in a command that are looked at, and of a folder in which databases are
// looked for.
const (
	maxDatabaseWords   = 64
	maxDatabaseEntries = 256
)

// openDatabases are the databases in the workspace that a command names, or whose folder it names,
// and that other programs have open.
func (p *plan) openDatabases() (found []string) {
	words := strings.FieldsFunc(strings.Join(p.command.Argv, " "), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;:|&<>(),=", r) })
	for _, word := range words[:min(len(words), maxDatabaseWords)] {
		path := p.absolute(word)
		if path == p.workspace.path || !within(path, p.workspace.path) {
			continue
		}
		files := []string{path}
		if info, ok := lookAt(path); !ok {
			continue
		} else if info.IsDir() {
			files = nil
			if f, err := os.Open(path); err == nil {
				names, _ := f.Readdirnames(maxDatabaseEntries) // of what cannot be read there is nothing to keep
				_ = f.Close()
				for _, name := range names {
					files = append(files, filepath.Join(path, name))
				}
			}
		}
		for _, file := range files {
			if !slices.Contains(found, file) && entry.DatabaseInUse(file) != "" {
				found = append(found, file)
			}
		}
	}
	return found
}

// keepDatabases has the command work on the real folders of databases that are in use, where these
// hold nothing else.
func (p *plan) keepDatabases() {
	if p.live != "" || p.command.KeepChanges {
		return
	}
	for _, file := range p.openDatabases() {
		if dir := filepath.Dir(file); dir != p.workspace.path && !slices.Contains(p.real, dir) && onlyDatabase(file) {
			p.real = append(p.real, dir)
		}
	}
}

// onlyDatabase reports that a folder holds a database with its journals and nothing else.
func onlyDatabase(file string) bool {
	names, err := os.ReadDir(filepath.Dir(file))
	return err == nil && !slices.ContainsFunc(names, func(e os.DirEntry) bool {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(file))
		return !ok || !e.Type().IsRegular() || !slices.Contains([]string{"", "-wal", "-shm", "-journal"}, rest)
	})
}

// DatabaseInUse says why a command can only work on the real files: it names a database that
// another program has open, in a folder that holds other files, too. It is empty where it need not.
func (s *Sandbox) DatabaseInUse(argv []string, dir string) string {
	p := plan{workspace: s.workspace}
	p.command.Argv, p.command.Dir = argv, dir
	for _, file := range p.openDatabases() {
		if filepath.Dir(file) == s.workspace.path || !onlyDatabase(file) {
			return "it names the database " + legibleIn(s.workspace.path, file) + ", which another program has open" + entry.DatabaseInUse(file) + "; in the sandbox it would work on a copy of it"
		}
	}
	return ""
}
