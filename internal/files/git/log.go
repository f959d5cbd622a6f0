package git

import (
	"context"
	"fmt"
	"strings"
)

// LogQuery chooses commits. Empty fields choose all.
type LogQuery struct {
	Range        string // a revision, a..b or a...b; if "", HEAD
	Path         string // relative to the folder of the Repo; if "", all of the repository, merges too
	Follow       bool   // Path is one file: go on beyond its renames
	Since, Until string // dates as git reads them
	Author       string // text in the author's name or address
	Grep         string // text in the message
	Skip, Limit  int    // commits; Limit is at least 1
}

// Commit is one line of a log.
type Commit struct {
	Hash    string // abbreviated so that it stays unique
	Date    string // of the author, YYYY-MM-DD
	Author  string
	Refs    string // branches and tags at this commit, "" for none
	Subject string
}

// Log is the newest commits of a query. Unborn says that there is no commit at all yet.
type Log struct {
	Commits []Commit
	More    bool // commits are left out by Limit
	Unborn  bool
}

// logFields is the number of NUL-ended fields of a commit in logFormat.
const (
	logFields = 5
	logFormat = "%h%x00%as%x00%an%x00%D%x00%s"
)

// Log lists commits, newest first.
func (r *Repo) Log(ctx context.Context, q LogQuery) (Log, error) {
	revs, err := r.revisions(ctx, q.Range)
	if err != nil {
		return Log{}, err
	}
	if len(revs) == 0 {
		return Log{Unborn: true}, nil
	}
	args := append([]string{
		"log", "-z", "--format=tformat:" + logFormat, "--no-patch", "--no-show-signature", "--no-color", "--no-decorate",
		"--encoding=UTF-8", "--regexp-ignore-case", "--fixed-strings",
		fmt.Sprintf("--max-count=%d", q.Limit+1), fmt.Sprintf("--skip=%d", q.Skip),
	}, q.filters()...)
	args = append(append(args, revs...), "--")
	if q.Path != "" {
		args = append(args, q.Path)
	}
	var log Log
	var fields []string
	err = r.records(ctx, func(field string) {
		if fields = append(fields, field); len(fields) == logFields {
			log.Commits = append(log.Commits, Commit{fields[0], fields[1], fields[2], fields[3], fields[4]})
			fields = fields[:0]
		}
	}, args...)
	if log.More = len(log.Commits) > q.Limit; log.More {
		log.Commits = log.Commits[:q.Limit]
	}
	return log, err
}

// filters makes options whose values are part of the same argument, so that none is taken for an
// option.
func (q LogQuery) filters() (args []string) {
	for _, f := range [][2]string{{"--since=", q.Since}, {"--until=", q.Until}, {"--author=", q.Author}, {"--grep=", q.Grep}} {
		if f[1] != "" {
			args = append(args, f[0]+f[1])
		}
	}
	if q.Follow {
		args = append(args, "--follow")
	}
	return args
}

// revisions turns a range into hashes: one, "^a b", or those of a...b without what both have.
// Without a range and without a commit there are none.
func (r *Repo) revisions(ctx context.Context, text string) ([]string, error) {
	if text == "" {
		hash, err := r.Resolve(ctx, "HEAD")
		if err != nil {
			return nil, unlessUnborn(err)
		}
		return []string{hash}, nil
	}
	from, to, dots := splitRange(text)
	if dots == "" {
		hash, err := r.Resolve(ctx, text)
		return []string{hash}, err
	}
	a, b, err := r.ends(ctx, from, to)
	if dots == ".." {
		return []string{"^" + a, b}, err
	}
	return []string{a + "..." + b}, err
}

// unlessUnborn drops the error about a HEAD without a commit.
func unlessUnborn(err error) error {
	if isCode(err, CodeNotFound) {
		return nil
	}
	return err
}

// splitRange parts a..b and a...b; an end that is left out is HEAD.
func splitRange(text string) (from, to, dots string) {
	for _, dots = range []string{"...", ".."} {
		if from, to, ok := strings.Cut(text, dots); ok {
			return orHead(from), orHead(to), dots
		}
	}
	return text, "", ""
}

func orHead(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

// ends resolves both ends of a range.
func (r *Repo) ends(ctx context.Context, from, to string) (a, b string, err error) {
	if a, err = r.Resolve(ctx, from); err != nil {
		return "", "", err
	}
	b, err = r.Resolve(ctx, to)
	return a, b, err
}
