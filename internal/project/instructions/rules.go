package instructions

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"adze/internal/files/workspace"
	"adze/internal/project/discovery"
	"adze/internal/text/braces"
)

// Limits for a folder's rules, and for the index from which the model selects.
const (
	maxRules     = 200
	maxRuleDepth = 4
	maxIndex     = 4000 // bytes
	maxLine      = 200  // bytes of one description
)

// rule is a rule file of Cursor, Claude Code or Copilot that does not always apply.
type rule struct {
	name        string // its name after @
	path        string // absolute, as found
	shown       string
	folder      string // the folder it applies to, absolute
	mine        bool   // the user's, not the project's
	globs       []string
	description string
}

// shelf is an assistant's rules folder, with the name of the field that selects files.
type shelf struct{ dir, ending, globs string }

const claudeRules = ".claude/rules"

func shelves() []shelf {
	return []shelf{
		{".cursor/rules", ".mdc", "globs"},
		{claudeRules, ".md", "paths"},
		{".github/instructions", ".instructions.md", "applyTo"},
	}
}

// rules reads a folder's rules: files that always apply, and waiting rules.
func (in *reader) rules(dir string) (always []File, waiting []rule) {
	for _, s := range shelves() {
		files, rules := in.shelf(in.root, filepath.Join(dir, s.dir), s, rule{folder: dir})
		always, waiting = append(always, files...), append(waiting, rules...)
	}
	return always, waiting
}

// ownRules reads the user's rules for Claude Code, whose patterns are about the files of each
// project.
func (in *reader) ownRules() (always []File, waiting []rule) {
	dir := filepath.Join(in.owner.Home, claudeRules)
	if exists(dir) { // to open a root takes seven calls
		if root, err := workspace.Open(dir); err == nil {
			defer root.Close()
			return in.shelf(root, dir, shelf{claudeRules, ".md", "paths"}, rule{folder: in.owner.top, mine: true})
		}
	}
	return nil, nil
}

// shelf reads an assistant's rules, with like as what they have in common.
func (in *reader) shelf(root *workspace.Root, dir string, s shelf, like rule) (always []File, waiting []rule) {
	names := below(root, dir, s.ending, maxRuleDepth)
	if len(names) > maxRules {
		in.notices = append(in.notices, fmt.Sprintf("%s holds more than %d rules; the rest is not read", in.owner.displayPath(dir), maxRules))
		names = names[:maxRules]
	}
	for _, like.path = range names {
		f, r, ok := in.rule(like, s)
		switch {
		case !ok:
		case r == nil:
			always = append(always, f)
		default:
			waiting = append(waiting, *r)
		}
	}
	return always, waiting
}

// below lists a folder's files with an extension, in order, without following links to folders.
func below(root *workspace.Root, dir, ending string, depth int) (out []string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || root == nil {
		return nil
	}
	at, err := root.Resolve(dir)
	if err != nil || at.Outside() {
		return nil
	}
	list, err := root.Names(at, maxRules*2)
	if err != nil {
		return nil
	}
	slices.Sort(list)
	for _, name := range list {
		full := filepath.Join(dir, name)
		switch info, err := os.Lstat(full); {
		case err != nil:
		case info.Mode().Type() == fs.ModeDir && depth > 1:
			out = append(out, below(root, full, ending, depth-1)...)
		case strings.HasSuffix(name, ending):
			out = append(out, full)
		}
	}
	return out
}

// rule reads one: a File that always applies, or a waiting rule.
func (in *reader) rule(r rule, s shelf) (File, *rule, bool) {
	if r.shown = in.owner.displayPath(r.path); r.mine {
		r.shown = in.owner.homePath(r.path)
	}
	f, front, err := in.ruled(r)
	if err != nil {
		in.tell(err, r.shown)
		return File{}, nil, false
	}
	r.name, r.description = strings.TrimSuffix(filepath.Base(r.path), s.ending), front.Text("description")
	r.globs, _ = front.List(s.globs)
	holds, said := front.Bool("alwaysApply")
	switch {
	case said && holds, s.dir != ".cursor/rules" && len(r.globs) == 0, slices.Contains(r.globs, "**"), slices.Contains(r.globs, "**/*"):
		file, state := in.take(f, r.shown, r.mine)
		file.fallback = true
		return file, nil, state == fresh
	}
	return File{}, &r, true
}

// ruled reads a rule file and splits off its front matter.
func (in *reader) ruled(r rule) (f raw, front discovery.FrontMatter, err error) {
	if r.mine {
		f, err = in.openMine(r.path)
	} else {
		f, err = in.open(in.root, r.path, false)
	}
	front, body := discovery.Parse(string(f.bytes))
	f.bytes = []byte(body)
	return f, front, err
}

// holds reports whether a rule applies to a file. A pattern without a slash matches file names
// anywhere.
func (r rule) holds(file string) bool {
	rel, err := filepath.Rel(r.folder, file)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(r.globs, func(pattern string) bool {
		pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/")
		name := rel
		if !strings.Contains(pattern, "/") {
			name = path.Base(rel)
		}
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		each, ok := braces.Alternatives(pattern, braces.MaxExpansions)
		return ok && slices.ContainsFunc(each, func(pattern string) bool {
			ok, err := doublestar.Match(pattern, name)
			return err == nil && ok
		})
	})
}

// indexOf lists the rules that only have a description.
func indexOf(rules []rule) string {
	var b strings.Builder
	left := 0
	for _, r := range rules {
		if r.description == "" || len(r.globs) > 0 {
			continue
		}
		line := fmt.Sprintf("- %s: %s\n", r.shown, cutText(strings.Join(strings.Fields(r.description), " "), maxLine))
		if b.Len()+len(line) > maxIndex {
			left++
			continue
		}
		b.WriteString(line)
	}
	if left > 0 {
		fmt.Fprintf(&b, "(and %d more)\n", left)
	}
	return b.String()
}
