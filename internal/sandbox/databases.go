//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/overlay/entry"
)

// A view cannot isolate a database that another program has open: both exclude each other by locks
// on the file itself. A command that names one works on the real folder if that holds nothing else;
// otherwise the user is asked.

// Limits on the names examined in a command, and on the entries examined in a folder.
const (
	maxDatabaseWords   = 64
	maxDatabaseEntries = 256
)

// openDatabases returns the workspace's databases that the command names, directly or by their
// folder, and that other programs have open.
func (p *plan) openDatabases() (found []string) {
	words := strings.FieldsFunc(strings.Join(p.command.Argv, " "), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;:|&<>(),=", r) })
	for _, word := range words[:min(len(words), maxDatabaseWords)] {
		path := p.absolute(word)
		if path == p.workspace.path || !isWithin(path, p.workspace.path) {
			continue
		}
		files := []string{path}
		if info, ok := lookAt(path); !ok {
			continue
		} else if info.IsDir() {
			files = nil
			if f, err := os.Open(path); err == nil {
				names, _ := f.Readdirnames(maxDatabaseEntries) // unreadable entries need no protection
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

// keepDatabases lets the command work on the real folders of open databases if these hold nothing
// else.
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

// onlyDatabase reports whether a folder holds nothing but a database and its journals.
func onlyDatabase(file string) bool {
	names, err := os.ReadDir(filepath.Dir(file))
	return err == nil && !slices.ContainsFunc(names, func(e os.DirEntry) bool {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(file))
		return !ok || !e.Type().IsRegular() || !slices.Contains([]string{"", "-wal", "-shm", "-journal"}, rest)
	})
}

// DatabaseInUse returns why a command must work on the real files, or "". It must if it names a
// database that another program has open, in a folder with other files.
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
