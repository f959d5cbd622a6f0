package search

import (
	"context"
	"errors"

	"adze/internal/files/search/match"
)

// Mode is what a Grep returns of the files that match.
type Mode string

// The modes.
const (
	Content Mode = "content" // their lines
	Files   Mode = "files"   // their paths alone; a file is left after its first match
	Count   Mode = "count"   // how many lines match in each
)

// GrepQuery is what to look for and where.
type GrepQuery struct {
	match.Query
	Include []string // patterns of paths to search; without a slash they match at any depth; none: all
	Exclude []string // patterns of what to leave out, files or folders
	Type    string   // a name of Types; if empty, all
	Mode    Mode     // if empty, Content
	Before  int      // lines of context before a match
	After   int      // and after it
	Width   int      // characters shown of a line, around its match; if 0, all
	Limit   int      // matches (Content) or files (Files, Count) to return; must be positive
	PerFile int      // matches to return of each file; if 0, up to Limit
	// Stop ends the search when nothing that is left can be among the first Limit by path. What is
	// returned is the same; the totals are then those of it, and GrepResult.More says so.
	Stop bool
}

// FileMatches is one file with matches.
type FileMatches struct {
	Path   string // from the root of the tree; empty when the root is the file
	Count  int    // matching lines, exact; in mode Files only that there is one
	Lines  []match.Line
	Decode string // the encoding it was decoded from, if any
	NULs   bool   // text with NUL bytes in it
}

// GrepResult is what was found. Totals are exact whatever the limit, unless the search ended at it.
type GrepResult struct {
	Files    []FileMatches // in the order of their paths
	Matches  int           // matching lines of all files; in mode Files 0
	Matching int           // files with a match
	Searched int           // files searched to their end, or in mode Files to the first match
	// More says that the search ended at the limit. The counts are those of the files until then.
	More     bool
	Withheld int        // files not searched because Tree.Withhold said so
	Ignored  int        // files not searched and folders not entered because of ignore rules
	Binary   Unreadable // files not searched because they have NUL bytes and are no text
	TooLarge Unreadable // files not searched because a line, or all of them for matches across lines, is too large
	Partly   Unreadable // files whose end was not searched, because they have more than Tree.FileBytes
	// Unreadable are files and folders that could not be opened or read.
	Unreadable Unreadable
}

// Grep finds lines. If the root of the tree is a file, that file is searched, ignored or not.
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

// maxContextLines bounds the context on each side of a match.
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

// patternProblem adds the next move to what is wrong with a pattern.
func patternProblem(err error, literal bool) error {
	var p *match.PatternError
	if errors.As(err, &p) && p.Syntax && !literal {
		return &Error{Code: CodeArguments, Message: p.Error() + "; correct it, or set literal to search for the text as it is", Err: err}
	}
	return &Error{Code: CodeArguments, Message: err.Error(), Err: err}
}

// grepScope prepares the walk: include and type both have to match.
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
