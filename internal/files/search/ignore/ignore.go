// Package ignore decides which paths of a tree are ignored, exactly as git does.
//
// The one rule: a decision is made on bytes, from the rules in force in the folder that holds the
// entry; the last rule that matches wins, and the nearest file is asked first. An ignored folder
// settles everything below it, so a walk that never enters one needs no other check.
//
// Start reading at Level: Root collects what holds above the folder a walk starts in, Enter adds
// what one more folder brings along, and a Query asks about the entries of a folder. Rules is one
// parsed file, wild one pattern with wildcards.
//
// Precedence, highest first: .ignore files from the inside out, .gitignore files from the inside
// out up to the repository that holds the folder, .git/info/exclude, core.excludesFile. The .ignore
// files are not git's; they let a user hide or show files to search tools alone.
//
// Known limits: core.ignoreCase is not obeyed (names are compared byte by byte, as on Linux);
// configuration behind includeIf is not read. Outside a repository .gitignore files count from
// Finder.Top on.
package ignore

import (
	"bytes"
)

// Verdict is what a list of rules says about a path.
type Verdict int8

const (
	// None means that no rule matches: the next list decides.
	None Verdict = iota
	// Ignored means that the last matching rule excludes the path.
	Ignored
	// Included means that the last matching rule is a negation ("!pattern").
	Included
)

// Rules is the content of one ignore file, indexed so that most paths meet no pattern at all.
// It never changes after Parse and may be shared.
type Rules struct {
	rules  []rule
	byName map[string][]int32 // the pattern is a plain base name
	byExt  map[string][]int32 // "*.ext", keyed by ext
	byPath map[string][]int32 // an anchored path without wildcards
	rest   []int32            // everything else, in file order
}

// rule is one pattern line.
type rule struct {
	negated  bool
	onlyDirs bool
	base     bool   // matches the base name, at any depth
	prefix   string // bytes before the first wildcard
	suffix   string // for "*suffix" on a base name
	plain    bool   // no wildcard: prefix is the whole pattern
	glob     *wild  // what follows prefix; nil where plain or suffix decide
}

// Parse reads an ignore file. It never fails: what git takes for a pattern that cannot match is
// one here, too.
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

// clean returns the pattern of a line, or "" for a blank line or a comment.
func clean(line []byte) string {
	if len(line) == 0 || line[0] == '#' {
		return ""
	}
	line = bytes.TrimSuffix(line, []byte{'\r'})
	// git keeps patterns as C strings: nothing after a NUL counts.
	line, _, _ = bytes.Cut(line, []byte{0})
	return string(trimSpaces(line))
}

// trimSpaces drops trailing spaces that no backslash protects. Tabs stay.
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

// Len returns the number of patterns.
func (r *Rules) Len() int {
	if r == nil {
		return 0
	}
	return len(r.rules)
}

// Match says what the rules decide about path, which is relative to the folder of the ignore file,
// with slashes. name is its last element; dir tells whether it is a folder (a link to one is not).
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
	for i := len(r.rest) - 1; i >= 0 && r.rest[i] > best; i-- {
		if r.rules[r.rest[i]].matches(path, name, dir) {
			best = r.rest[i]
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

// last returns the highest of the given rules that holds for a file or a folder, or -1.
func (r *Rules) last(candidates []int32, dir bool) int32 {
	for i := len(candidates) - 1; i >= 0; i-- {
		if n := candidates[i]; dir || !r.rules[n].onlyDirs {
			return n
		}
	}
	return -1
}
