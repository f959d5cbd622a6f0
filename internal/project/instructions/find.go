package instructions

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what is read: it is paid for at every request. The same as Codex has for a file.
const (
	maxFile = 32 << 10 // bytes of one file, with what it imports
	maxAll  = 64 << 10 // bytes of the system prompt's files, and of what joins in one step
)

// AgentsFile is the name that assistants agreed on (agents.md).
const AgentsFile = "AGENTS.md"

// names are those of a folder, of which the first counts that is there and holds something: first
// what Codex and the others share, then Claude Code's and Gemini's.
func names() []string {
	return []string{"AGENTS.override.md", AgentsFile, "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"}
}

// rootNames are read in the repository's root where it has none of names.
func rootNames() []string { return []string{".github/copilot-instructions.md", ".cursorrules"} }

// agents reports a name before which no other assistant's file or rules are read.
func agents(name string) bool { return strings.HasPrefix(filepath.Base(name), "AGENTS.") }

// File is one file of instructions as the model reads it.
type File struct {
	Shown string // for people and the model: relative to the working folder, or from ~
	Real  string // absolute, without links; if empty, it is made of several
	Text  string
	Size  int64 // in bytes, of the file on the disk

	instead bool // it is read in the place of an AGENTS.md
}

// instructionSet is what the system prompt holds, and what may join later.
type instructionSet struct {
	files   []File
	rules   []rule // that wait for a file or for their name
	notices []string
	real    map[string]bool // every file that was read, imports too
	sums    map[string]bool // their hashes
}

// find reads the user's own file, then those of the folders from the root down to the working
// folder. What there is room for is given to the user's first, then to the nearest.
func (r *Room) find() instructionSet {
	in := r.reader(context.Background())
	var out instructionSet
	if f, ok := in.person(); ok {
		out.files = append(out.files, f)
	}
	own := len(out.files)
	for _, folder := range slices.Backward(r.chain()) {
		files, rules := in.folder(folder, folder == r.top)
		out.files, out.rules = append(out.files, files...), append(out.rules, rules...)
	}
	for i := range out.files[:own] {
		out.files[i] = in.fit(out.files[i])
	}
	for i, f := range slices.Backward(out.files[own:]) {
		out.files[own+i] = in.fit(f)
	}
	if index := indexOf(out.rules); index != "" {
		out.files = append(out.files, File{Shown: "rules that you read when their subject comes up", Text: index})
	}
	out.notices, out.real, out.sums = in.notices, in.real, in.sums
	return out
}

// chain is the working folder and those above it up to the root.
func (r *Room) chain() (out []string) {
	for at := r.Dir; ; at = filepath.Dir(at) {
		out = append(out, at)
		if at == r.top || at == filepath.Dir(at) {
			return out
		}
	}
}

// person reads the first file of the user's own that is there: adze's, else what they have with
// another assistant.
func (in *reader) person() (File, bool) {
	own := filepath.Join(in.room.Own, AgentsFile)
	if f, ok := in.mine(own, "your "+AgentsFile); ok {
		return f, true
	}
	if in.room.Home == "" {
		return File{}, false
	}
	for _, name := range []string{".codex/AGENTS.md", ".claude/CLAUDE.md", ".gemini/GEMINI.md"} {
		if f, ok := in.mine(filepath.Join(in.room.Home, name), "~/"+name); ok {
			f.instead = true
			return f, true
		}
	}
	return File{}, false
}

// folder reads the file of one folder, and the rules that it has in the place of an AGENTS.md.
func (in *reader) folder(dir string, root bool) (files []File, rules []rule) {
	list := names()
	if root {
		list = append(list, rootNames()...)
	}
	for _, name := range list {
		f, state := in.project(filepath.Join(dir, name))
		if state == missing {
			continue
		}
		if f.instead = !agents(name); state == fresh {
			files = append(files, f)
		}
		if agents(name) {
			return files, nil
		}
		break
	}
	always, rules := in.rules(dir)
	return append(files, always...), rules
}

// shown is a path as people and the model read it.
func (r *Room) shown(path string) string {
	if rel, err := filepath.Rel(r.Dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
