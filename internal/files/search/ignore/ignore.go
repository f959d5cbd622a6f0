// Package ignore decides which paths in a tree are ignored, exactly as git does.
//
// The one rule: decisions are made on bytes, by the rules for the folder that holds the entry; the
// last matching rule wins, and nearer files take precedence. Everything below an ignored folder is
// ignored.
//
// Start reading at Level: Root collects the rules above the start folder, Enter adds those of one
// more folder, and a Query decides about a folder's entries. Rules is a parsed file, wild a pattern
// with wildcards.
//
// Precedence, highest first: .ignore files from the inside out, .gitignore files from the inside
// out up to the top of the repository, .git/info/exclude, core.excludesFile. Git does not know
// .ignore files; they hide or show files only for search tools.
//
// Known limits: core.ignoreCase is not supported (names are compared byte by byte, as on Linux);
// configuration behind includeIf is not read. Outside a repository, .gitignore files apply from
// Finder.Top down.
package ignore

import (
	"bytes"
)

// Verdict is a rule list's decision about a path.
type Verdict int8

const (
	// None means that no rule matches and the next list decides.
	None Verdict = iota
	// Ignored means that the last matching rule excludes the path.
	Ignored
	// Included means that the last matching rule is a negation ("!pattern").
	Included
)

// Rules is a parsed ignore file, indexed so that most paths are compared with no pattern. It is
// immutable and may be shared.
type Rules struct {
	rules      []rule
	byName     map[string][]int32 // patterns that are a plain base name
	byExt      map[string][]int32 // "*.ext", keyed by ext
	byPath     map[string][]int32 // anchored paths without wildcards
	otherRules []int32            // all others, in file order
}

type rule struct {
	negated  bool
	onlyDirs bool
	base     bool   // matches the base name at any depth
	prefix   string // text before the first wildcard
	suffix   string // for "*suffix" on a base name
	plain    bool   // no wildcard: prefix is the whole pattern
	glob     *wild  // pattern after prefix; nil if plain or suffix decide
}

// Parse reads an ignore file. It never fails: invalid patterns match nothing, as in git.
func Parse(text []byte) *Rules {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	r := &Rules{}
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		if pattern := clean(line); pattern != "" {
			r.add(pattern)
		}
	}
	return r
}

// clean returns the pattern in a line, or "" for a blank line or comment.
func clean(line []byte) string {
	if len(line) == 0 || line[0] == '#' {
		return ""
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	// git keeps patterns as C strings: the rest after a NUL is ignored.
	line, _, _ = bytes.Cut(line, []byte{0})
	return string(trimSpaces(line))
}

// trimSpaces removes trailing spaces not escaped by a backslash. Tabs stay.
func trimSpaces(line []byte) []byte {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
			if i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}

// Len returns the pattern count.
func (r *Rules) Len() int {
	if r == nil {
		return 0
	}
	return len(r.rules)
}

// Match decides about path, which is relative to the ignore file's folder and uses slashes. name is
// its last element; dir is true for a folder, but not for a link to one.
func (r *Rules) Match(path, name []byte, dir bool) Verdict {
	if r.Len() == 0 {
		return None
	}
	best := r.last(r.byName[string(name)], dir)
	if len(r.byExt) > 0 {
		if dot := bytes.LastIndexByte(name, '.'); dot >= 0 {
			best = max(best, r.last(r.byExt[string(name[dot+1:])], dir))
		}
	}
	if len(r.byPath) > 0 {
		best = max(best, r.last(r.byPath[string(path)], dir))
	}
	for i := len(r.otherRules) - 1; i >= 0 && r.otherRules[i] > best; i-- {
		if r.rules[r.otherRules[i]].matches(path, name, dir) {
			best = r.otherRules[i]
		}
	}
	switch {
	case best < 0:
		return None
	case r.rules[best].negated:
		return Included
	}
	return Ignored
}

// last returns the highest candidate rule that applies to a file or folder, or -1.
func (r *Rules) last(candidates []int32, dir bool) int32 {
	for i := len(candidates) - 1; i >= 0; i-- {
		if n := candidates[i]; dir || !r.rules[n].onlyDirs {
			return n
		}
	}
	return -1
}
