// Package git asks the installed git about a repository without letting the repository run
// anything.
//
// A repository names programs in its configuration, attributes and hooks, and git runs them also
// for commands that only read: fsmonitor and hooks at status, external diffs, text converters and
// content filters at diff, gpg at log. Every git call of adze goes through here, with those ways
// closed.
//
// The one rule: arguments are made in this package. Callers give paths, revisions and texts as
// values, and none of them can become an option.
//
// Start reading at Git.Open, then harden.go, which says what is closed and how. status.go, diff.go
// and log.go each hold one question; head.go reads which branch is checked out without git;
// place.go tells whether a repository reads what lies elsewhere.
//
// Known limits:
//   - Content filters are not run, so a file that one changes (Git LFS) may count as modified while
//     its recorded size and time are stale; Status.Filtered names the files that this can be true
//     for.
//   - Changes inside a submodule's work tree are not seen, only which commit it is at.
//   - Filters and hooks of the configuration are listed before they are switched off: a program
//     that adds one in the moment between is not noticed.
//   - git below 2.38 does not refuse bare repositories in subfolders; their
//     configuration is overridden all the same.
package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
)

// Stable codes of Error, the same that tools report to a model.
const (
	CodeNotFound = "not_found"
	CodeInvalid  = "invalid_arguments"
	CodeTimeout  = "timeout"
	CodeAborted  = "aborted"
	CodeIO       = "io"
)

// Causes that a caller may want to tell apart.
var (
	ErrMissing       = errors.New("git is not installed")
	ErrNotRepository = errors.New("not a git repository")
	ErrNoWorkTree    = fmt.Errorf("%w with a work tree here", ErrNotRepository)
	ErrRevision      = errors.New("unknown revision")
)

// Error is every error of this package: a stable code, and a message for a model.
type Error struct {
	Code    string
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }

// ErrorCode is the stable code.
func (e *Error) ErrorCode() string { return e.Code }

// Unwrap is the cause; it may be nil.
func (e *Error) Unwrap() error { return e.Err }

func fail(code string, cause error, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: cause}
}

// DefaultTimeout bounds one git process. A status of a work tree of a million files takes some ten
// seconds when nothing is cached.
const DefaultTimeout = 60 * time.Second

// Git runs the installed git. The zero value has no environment and so finds none.
type Git struct {
	Supervisor proc.Supervisor
	Env        []string      // a user's environment without secrets, see proc.Environ
	Timeout    time.Duration // of one process; if 0, DefaultTimeout
}

// Repo is a repository with its work tree, as seen from one folder in it. Its methods run git in
// that folder, and paths given to them are relative to it.
type Repo struct {
	Top    string // of the work tree, absolute and free of links
	GitDir string // of this work tree
	Common string // shared by all its work trees; usually GitDir

	git     Git
	dir     string
	filters []string // content filters that each call switches off
	hooks   []string // hooks of the configuration that each call switches off
}

// Open finds the repository that dir, an absolute path free of links, lies in.
func (g Git) Open(ctx context.Context, dir string) (*Repo, error) {
	r := &Repo{git: g, dir: dir}
	out, err := r.text(ctx, "rev-parse", "--absolute-git-dir", "--git-common-dir", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 3 {
		return nil, fail(CodeIO, nil, "the path of the repository holds a line break; rename its folder")
	}
	r.GitDir, r.Common, r.Top = resolved(dir, lines[0]), resolved(dir, lines[1]), resolved(dir, lines[2])
	if !within(dir, r.Top) {
		return nil, fail(CodeInvalid, ErrNotRepository,
			"the repository puts its work tree elsewhere (core.worktree is %s), which is not followed; look with bash", r.Top)
	}
	return r, r.listNamed(ctx)
}

// resolved is an absolute path free of links, as far as it exists.
func resolved(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within reports whether path is dir or below it; both are free of links.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Resolve finds the commit that a revision means and returns its full hash.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	odd := func(c rune) bool { return c < ' ' || c == 0x7f }
	switch {
	case rev == "" || len(rev) > 250 || strings.IndexFunc(rev, odd) >= 0:
		return "", fail(CodeInvalid, ErrRevision, "%.40q is no revision; give a branch, a tag, a hash, or HEAD~2", rev)
	case strings.HasPrefix(rev, "-") || strings.HasPrefix(rev, "^"):
		return "", fail(CodeInvalid, ErrRevision, "a revision cannot begin with %q; give a branch, a tag, a hash, or HEAD~2", rev[:1])
	}
	out, err := r.text(ctx, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	hash := strings.TrimSpace(out)
	if err == nil && IsHash(hash) {
		return hash, nil
	}
	if ctx.Err() != nil || isCode(err, CodeTimeout) {
		return "", err
	}
	return "", fail(CodeNotFound, ErrRevision, "there is no commit %q%s", rev, r.branches(ctx))
}

func isCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// branches says what else could be named, for the message about an unknown revision.
func (r *Repo) branches(ctx context.Context) string {
	out, err := r.text(ctx, "for-each-ref", "--count=6", "--sort=-committerdate", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
	names := strings.Fields(out)
	switch {
	case err != nil:
		return "; git log lists commits"
	case len(names) == 0:
		return "; the repository has no commits yet"
	}
	return "; newest branches and tags: " + strings.Join(names, ", ") + "; git log lists commits"
}

// IsHash accepts a full SHA-1 or SHA-256 name.
func IsHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
