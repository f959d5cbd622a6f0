package instructions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/workspace"
)

// Listed is an existing instruction file with its state.
type Listed struct {
	DisplayPath string
	Mine        bool  // the user's, not the project's
	Size        int64 // file size in bytes
	State       string
	Reason      string // reason for the state; may be ""
}

// States of a Listed.
const (
	Used  = "used"   // in the system prompt
	Waits = "waits"  // joins when its subject comes up
	Left  = "unused" // another file replaces it
)

// Listed returns all existing instruction files: those in the system prompt, those that may join
// later, and replaced ones.
func (r *Reader) Listed() (out []Listed) {
	if r.silent() {
		return nil
	}
	f := r.file()
	for _, file := range f.files {
		if file.Real == "" {
			continue // the index of rules
		}
		l := Listed{DisplayPath: file.DisplayPath, Mine: strings.HasPrefix(file.DisplayPath, "~") || strings.HasPrefix(file.DisplayPath, "your "), Size: file.Size, State: Used}
		if file.fallback {
			l.Reason = "in the place of an AGENTS.md"
		}
		out = append(out, l)
	}
	for _, rule := range f.rules {
		why := "it joins when it is named: @" + rule.name
		switch {
		case len(rule.globs) > 0:
			why = "it joins with a file that matches " + strings.Join(rule.globs, ", ")
		case rule.description != "":
			why = "its description is in the prompt"
		}
		size, _ := sizeOf(rule.path)
		out = append(out, Listed{DisplayPath: rule.shown, Mine: rule.mine, Size: size, State: Waits, Reason: why})
	}
	return append(out, r.left(f)...)
}

// left returns the replaced files.
func (r *Reader) left(f instructionSet) (out []Listed) {
	read := map[string]bool{}
	for path := range f.real {
		read[path] = true
	}
	for _, rule := range f.rules {
		read[rule.path] = true
	}
	add := func(path, shown, why string, mine bool) {
		size, there := sizeOf(path)
		if real, err := filepath.EvalSymlinks(path); there && err == nil && !read[real] && !read[path] {
			out = append(out, Listed{DisplayPath: shown, Mine: mine, Size: size, State: Left, Reason: why})
		}
	}
	if r.Home != "" {
		for _, name := range []string{".codex/AGENTS.md", ".claude/CLAUDE.md", ".gemini/GEMINI.md"} {
			add(filepath.Join(r.Home, name), "~/"+name, "another file of yours is read", true)
		}
		dir := filepath.Join(r.Home, claudeRules)
		if root, err := workspace.Open(dir); err == nil {
			for _, path := range below(root, dir, ".md", maxRuleDepth) {
				add(path, r.homePath(path), "another file of yours is read", true)
			}
			_ = root.Close() // nothing was written
		}
	}
	for _, folder := range slices.Backward(r.chain()) {
		for _, name := range append(names(), rootNames()...) {
			path := filepath.Join(folder, name)
			why := "another one of this folder is read"
			if folder != r.top && slices.Contains(rootNames(), name) {
				why = "it is read in the repository's root only"
			}
			add(path, r.displayPath(path), why, false)
		}
		for _, s := range shelves() {
			for _, path := range below(r.tree(), filepath.Join(folder, s.dir), s.ending, maxRuleDepth) {
				add(path, r.displayPath(path), "an AGENTS.md is read", false)
			}
		}
	}
	return out
}

func sizeOf(path string) (int64, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}
