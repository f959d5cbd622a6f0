// Package git queries a repository through the installed git without letting the repository run
// anything.
//
// Configuration, attributes and hooks name programs that git runs even for read-only commands:
// fsmonitor and hooks at status, external diffs, text converters and content filters at diff, gpg
// at log. This package disables them; adze calls git in no other way.
//
// The one rule: arguments are built in this package. Callers pass paths, revisions and texts as
// values, none of which can become an option.
//
// Start reading at Git.Open, then harden.go. status.go, diff.go and log.go each hold one query;
// head.go finds the current branch without git; place.go finds data outside the repository.
//
// Known limits:
//   - Content filters do not run, so a file changed by one (Git LFS) may count as modified while
//     its recorded size and time are stale; Status.Filtered names such files.
//   - Changes inside a submodule's worktree are not detected, only its commit.
//   - A filter or hook added between listing and disabling them is not noticed.
//   - Before 2.38, git does not refuse bare repositories in subfolders; their configuration is
//     overridden nevertheless.
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

// Stable error codes, as tools report them to a model.
const (
	CodeNotFound = "not_found"
	CodeInvalid  = "invalid_arguments"
	CodeTimeout  = "timeout"
	CodeAborted  = "aborted"
	CodeIO       = "io"
)

// Causes for errors.Is.
var (
	ErrMissing       = errors.New("git is not installed")
	ErrNotRepository = errors.New("not a git repository")
	ErrNoWorkTree    = fmt.Errorf("%w with a work tree here", ErrNotRepository)
	ErrRevision      = errors.New("unknown revision")
)

// Error is returned by all functions in this package; its message is for a model.
type Error struct {
	Code    string
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

func fail(code string, cause error, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Err: cause}
}

// DefaultTimeout bounds one git process. The status of a worktree with a million files takes about
// ten seconds without caches.
const DefaultTimeout = 60 * time.Second

// Git runs the installed git. The zero value has no environment and finds no git.
type Git struct {
	Supervisor proc.Supervisor
	Env        []string      // the user's environment without secrets, see proc.Environ
	Timeout    time.Duration // per process; if 0, DefaultTimeout
}

// Repo is a repository with its worktree, seen from one folder in it. Methods run git in that
// folder, and path arguments are relative to it.
type Repo struct {
	Top    string // worktree root, absolute, without links
	GitDir string // this worktree's git directory
	Common string // shared by all worktrees; usually GitDir

	git     Git
	dir     string
	filters []string // content filters to disable in each call
	hooks   []string // configured hooks to disable in each call
}

// Open finds the repository that contains dir, an absolute path without links.
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

// Version returns the version of the git that works in dir, major and minor, or nil if none can be
// asked.
func (g Git) Version(ctx context.Context, dir string) []int {
	out, err := (&Repo{git: g, dir: dir}).text(ctx, "version")
	version := make([]int, 2)
	if _, scanned := fmt.Sscanf(out, "git version %d.%d", &version[0], &version[1]); err != nil || scanned != nil {
		return nil
	}
	return version
}

// resolved returns an absolute path, with links resolved as far as it exists.
func resolved(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within reports whether path is dir or below it; both must have no links.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Resolve returns the full hash of a revision's commit.
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

// branches lists alternatives for the error about an unknown revision.
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

// IsHash reports whether s is a full SHA-1 or SHA-256 hash.
func IsHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
