package policyconfig

import (
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/files/workspace"
	"adze/internal/policy"
	"adze/internal/text/redact"
)

// Limit for workspace entries examined for a file's other names; it takes some ten milliseconds,
// and only for a file with several names.
const maxLooked = 20_000

// hardLinks returns a file's other names. A deny or ask rule on one of them applies to all.
func (j judge) hardLinks(p workspace.Path) (out []policy.Place) {
	p = p.WithConsent()
	about, err := j.root.Stat(p)
	if err != nil || !about.Mode.IsRegular() || about.Links < 2 {
		return nil
	}
	file, err := os.Lstat(p.Abs())
	if err != nil {
		return nil
	}
	add := func(path string, info fs.FileInfo) {
		if path != p.Abs() && os.SameFile(file, info) {
			rel, inside := j.root.Rel(path)
			out = append(out, policy.Place{Abs: path, Rel: rel, Outside: !inside})
		}
	}
	looked := 0
	_ = filepath.WalkDir(j.root.Dir(), func(path string, d fs.DirEntry, err error) error {
		if looked++; looked > maxLooked {
			return fs.SkipAll
		}
		switch {
		case err != nil:
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Type().IsRegular():
			if info, err := d.Info(); err == nil {
				add(path, info)
			}
		}
		return nil
	})
	for _, path := range j.atHome() {
		if info, err := os.Lstat(path); err == nil {
			add(path, info)
		}
	}
	return out
}

// atHome lists the home folder's known secret files.
func (j judge) atHome() (out []string) {
	for _, path := range policy.SecretPlaces(j.home) {
		entries, err := os.ReadDir(path)
		if err != nil {
			out = append(out, path) // a file, or nothing
		}
		for _, e := range entries {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	return out
}

// Linked returns a function that detects hard links to known secret files at the top of the
// workspace and in the home folder. It is usually nil, because no such file has another name.
func (j judge) Linked() func(path string) bool {
	paths := j.atHome()
	entries, _ := os.ReadDir(j.root.Dir()) // an unlistable folder is not searched either
	for _, e := range entries {
		if e.Type().IsRegular() && redact.File("", e.Name()) {
			paths = append(paths, filepath.Join(j.root.Dir(), e.Name()))
		}
	}
	var files []fs.FileInfo
	for _, path := range paths {
		p, err := j.root.Resolve(path)
		if err != nil {
			continue
		}
		about, err := j.root.Stat(p.WithConsent())
		if err != nil || !about.Mode.IsRegular() || about.Links < 2 {
			continue
		}
		if info, err := os.Lstat(path); err == nil {
			files = append(files, info)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return func(path string) bool {
		info, err := os.Lstat(path)
		for _, f := range files {
			if err == nil && os.SameFile(f, info) {
				return true
			}
		}
		return false
	}
}
