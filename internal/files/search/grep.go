package search

import (
	"context"
	"errors"

	"adze/internal/files/search/match"
)

// Mode selects Grep's result for matching files.
type Mode string

// The modes.
const (
	Content Mode = "content" // matching lines
	Files   Mode = "files"   // paths only; a file is searched up to its first match
	Count   Mode = "count"   // matching line count for each file
)

// GrepQuery selects the lines to find.
type GrepQuery struct {
	match.Query
	Include []string // patterns of paths to search; without a slash they match at any depth; if empty, all
	Exclude []string // patterns of files or folders to leave out
	Type    string   // one of Types; if empty, all
	Mode    Mode     // if empty, Content
	Before  int      // context lines before a match
	After   int      // context lines after a match
	Width   int      // characters shown from a line, around its match; if 0, the whole line
	Limit   int      // matches (Content) or files (Files, Count) to return; must be positive
	PerFile int      // matches to return from each file; if 0, up to Limit
	// Stop ends the search once no later path can be among the first Limit. The returned matches
	// are the same, but the totals then cover only them and GrepResult.Truncated is set.
	Stop bool
}

// FileMatches is a file with its matches.
type FileMatches struct {
	Path   string // relative to the tree's root; empty if the root is the file
	Count  int    // matching lines, exact; in mode Files 1
	Lines  []match.Line
	Decode string // original encoding if the text was decoded
	NULs   bool   // text that contains NUL bytes
}

// GrepResult holds the matches. Totals are exact whatever the limit, unless the search stopped at
// it.
type GrepResult struct {
	Files    []FileMatches // ordered by path
	Matches  int           // matching lines in all files; 0 in mode Files
	Matching int           // files with matches
	Searched int           // files searched completely, or in mode Files to the first match
	// Truncated reports that the search stopped at the limit. The counts cover the files up to there.
	Truncated bool
	Withheld  int        // files left out by Tree.Withhold
	Ignored   int        // files and folders skipped by ignore rules
	Binary    Unreadable // files skipped because they contain NUL bytes and are not text
	TooLarge  Unreadable // files skipped because a line, or for a multiline search the file, is too large
	Partly    Unreadable // files searched only up to Tree.FileBytes
	// Unreadable counts files and folders that could not be opened or read.
	Unreadable Unreadable
}

// Grep finds lines. If the root is a file, that file is searched even if ignored.
func (t Tree) Grep(ctx context.Context, q GrepQuery) (GrepResult, error) {
	ctx, cancel := t.within(ctx)
	defer cancel()
	if err := q.check(); err != nil {
		return GrepResult{}, err
	}
	m, err := match.Compile(q.Query)
	if err != nil {
		return GrepResult{}, patternProblem(err, q.Literal)
	}
	s, err := t.grepScope(q)
	if err != nil {
		return GrepResult{}, err
	}
	seekers := make([]*seeker, t.workers())
	visitors := make([]visitor, len(seekers))
	found := newFirst(q)
	for i := range seekers {
		seekers[i] = newSeeker(t, m, q, found)
		visitors[i] = seekers[i]
	}
	err = walkTree(ctx, t, s, visitors)
	if errors.Is(err, errNotFolder) {
		return t.grepFile(ctx, seekers[0])
	}
	if err != nil {
		return GrepResult{}, err
	}
	r := mergeSeekers(seekers)
	r.Ignored = int(s.ignored.Load())
	return r, nil
}

const maxContextLines = 1000

func (q *GrepQuery) check() error {
	if q.Mode == "" {
		q.Mode = Content
	}
	if q.PerFile == 0 || q.PerFile > q.Limit {
		q.PerFile = q.Limit
	}
	switch {
	case q.Limit <= 0:
		return invalid("limit is %d; it must be positive", q.Limit)
	case q.PerFile < 0:
		return invalid("per_file is %d; it must not be negative", q.PerFile)
	case q.Before < 0 || q.After < 0 || q.Before > maxContextLines || q.After > maxContextLines:
		return invalid("context must be between 0 and %d lines; read the file for more", maxContextLines)
	case q.Mode != Content && q.Mode != Files && q.Mode != Count:
		return invalid("mode %q is unknown; use content, files or count", q.Mode)
	}
	return nil
}

// patternProblem adds the next step to a pattern error.
func patternProblem(err error, literal bool) error {
	var p *match.PatternError
	if errors.As(err, &p) && p.Syntax && !literal {
		return &Error{Code: CodeArguments, Message: p.Error() + "; correct it, or set literal to search for the text as it is", Err: err}
	}
	return &Error{Code: CodeArguments, Message: err.Error(), Err: err}
}

// scope returns the walk's scope; a path must match both include and type.
func (t Tree) grepScope(q GrepQuery) (*scope, error) {
	include := q.Include
	if len(include) == 0 {
		include = everything
	}
	s, err := t.scope(include, true, q.Exclude)
	if err != nil || q.Type == "" {
		return s, err
	}
	globs, err := typeGlobs(q.Type)
	if err != nil {
		return nil, err
	}
	g, err := newGlob(globs, true, true)
	if err != nil {
		return nil, err
	}
	s.want = append(s.want, g)
	return s, nil
}
