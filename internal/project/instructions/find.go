package instructions

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of reading: each request pays for it. Codex has the same limit for a file.
const (
	maxFile = 32 << 10 // bytes of one file with its imports
	maxAll  = 64 << 10 // bytes in the system prompt, and bytes that join in one step
)

// AgentsFile is the common name among assistants (agents.md).
const AgentsFile = "AGENTS.md"

// names lists a folder's file names, of which the first nonempty file counts: first those shared
// with Codex and others, then Claude Code's and Gemini's.
func names() []string {
	return []string{"AGENTS.override.md", AgentsFile, "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"}
}

// rootNames are read in the repository's root if it has none of names.
func rootNames() []string { return []string{".github/copilot-instructions.md", ".cursorrules"} }

// agents reports whether a name excludes other assistants' files and rules.
func agents(name string) bool { return strings.HasPrefix(filepath.Base(name), "AGENTS.") }

// A File is one instruction file as the model gets it.
type File struct {
	DisplayPath string // for display: relative to the current folder, or from ~
	Real        string // absolute, without links; "" if combined from several
	Text        string
	Size        int64 // file size in bytes

	fallback bool // replaces a missing AGENTS.md
}

// instructionSet holds the system prompt's files and those that may join later.
type instructionSet struct {
	files   []File
	rules   []rule // wait for a file or their name
	notices []string
	real    map[string]bool // all files read, with imports
	sums    map[string]bool // their hashes
}

// find reads the user's file, then those from the root down to the current folder. The user's file
// gets space first, then the nearest one.
func (r *Reader) find() instructionSet {
	in := r.reader(context.Background())
	var out instructionSet
	out.files, out.rules = in.person()
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
		out.files = append(out.files, File{DisplayPath: "rules that you read when their subject comes up", Text: index})
	}
	out.notices, out.real, out.sums = in.notices, in.real, in.sums
	return out
}

// chain returns the current folder and its parents up to the root.
func (r *Reader) chain() (out []string) {
	for at := r.Dir; ; at = filepath.Dir(at) {
		out = append(out, at)
		if at == r.top || at == filepath.Dir(at) {
			return out
		}
	}
}

// person reads the user's first existing file: adze's, else another assistant's, with the rules for
// Claude Code.
func (in *reader) person() (files []File, rules []rule) {
	own := filepath.Join(in.owner.AdzeDir, AgentsFile)
	if f, ok := in.mine(own, "your "+AgentsFile); ok {
		return []File{f}, nil
	}
	if in.owner.Home == "" {
		return nil, nil
	}
	for _, name := range []string{".codex/AGENTS.md", ".claude/CLAUDE.md", ".gemini/GEMINI.md"} {
		if f, ok := in.mine(filepath.Join(in.owner.Home, name), "~/"+name); ok {
			f.fallback = true
			if files = append(files, f); agents(name) {
				return files, nil
			}
			break
		}
	}
	always, rules := in.ownRules()
	return append(files, always...), rules
}

// folder reads a folder's file, and the rules that replace a missing AGENTS.md.
func (in *reader) folder(dir string, root bool) (files []File, rules []rule) {
	list := names()
	if root {
		list = append(list, rootNames()...)
	}
	const own = "CLAUDE.local.md" // the user's notes count beside any file
	taken := ""
	for _, name := range append(list, own) {
		if taken != "" && name != own && (taken != "CLAUDE.md" || name != ".claude/CLAUDE.md") {
			continue // Claude Code reads both of its files
		}
		f, state := in.project(filepath.Join(dir, name))
		if state != missing {
			taken = cmp.Or(taken, name)
		}
		if f.fallback = !agents(taken); state == fresh {
			files = append(files, f)
		}
	}
	if agents(taken) {
		return files, nil
	}
	always, rules := in.rules(dir)
	return append(files, always...), rules
}

// displayPath shortens a path for display.
func (r *Reader) displayPath(path string) string {
	if rel, err := filepath.Rel(r.Dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func (r *Reader) homePath(path string) string {
	return "~" + filepath.ToSlash(strings.TrimPrefix(path, r.Home))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
