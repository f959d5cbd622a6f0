// Package search finds files and lines in a tree; it implements glob, grep and list.
//
// The one rule: a walk opens a folder only relative to its parent's descriptor, takes an entry's
// type from the folder, and opens only regular files. So no link leads it out of the tree or in
// circles, and no FIFO or device blocks it.
//
// Start reading at Tree, then Tree.Glob, Tree.Grep and Tree.List. walk.go distributes folders to
// workers, scope.go selects entries, pattern.go matches globs, folder_linux.go and folder_other.go
// read folders, now_linux.go makes the calls that never block. Package ignore implements gitignore,
// package match finds lines.
//
// A walk shows regular files and links that no ignore rule excludes; hidden ones (with a leading
// dot) only if a pattern names the dot; ".git" never. Results are ordered by path, and totals are
// exact unless the search stops at its limit. Memory depends on the query, not on the tree. A
// search ends within Tree.Time. It skips holes in sparse files, treats a file with mostly NULs as
// binary, and reads other files up to Tree.FileBytes.
//
// Known limits: file names are compared byte by byte even if the file system folds case; a file
// that changes during a search is searched as read; List, and every walk outside Linux, holds a
// whole folder in memory (about 50 bytes an entry).
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/files/search/ignore"
)

// Tree is a folder to search. Only Root is required.
type Tree struct {
	// Root is the absolute path to a folder, or for Grep to a file, without symbolic links.
	Root string
	// Env looks up environment variables for the location of git's configuration; nil means
	// os.Getenv.
	Env func(string) string
	// Stands is the absolute path to a folder that may contain Root. Outside a repository,
	// .gitignore files apply from there down. Via, if not nil, is an open folder that is read
	// instead of Enclosing.
	OpenDir   *os.File
	Enclosing string
	// Workers bounds the folders processed at once; 0 means one per processor, up to 8.
	Workers int
	// Withhold, if not nil, reports files that must not be read; dir is absolute and ends in a
	// slash. Glob and Grep leave them out and count them. Workers call it concurrently. It is not
	// called for a root that is a file.
	Withhold func(dir, name string) bool
	// Time bounds one search; 0 means MaxTime.
	Time time.Duration
	// FileBytes bounds the bytes that Grep reads from one file, holes excluded; 0 means MaxFile.
	FileBytes int64
	// Texts replace file contents for Grep, by path relative to Root ("" if the root is the file).
	// Texts for files outside the walk are not searched.
	Texts map[string]string
	// Visited, if not nil, counts the files seen so far, for progress display.
	Visited *atomic.Int64
}

func (t Tree) withheld(d *dir) func(name string) bool {
	if t.Withhold == nil {
		return nil
	}
	at := strings.TrimSuffix(t.Root, "/") + "/" + d.path
	return func(name string) bool { return t.Withhold(at, name) }
}

func (t Tree) visited(n int) {
	if t.Visited != nil {
		t.Visited.Add(int64(n))
	}
}

// Default bounds for a search, both far above a source tree's needs.
const (
	MaxTime = 50 * time.Second
	MaxFile = 4 << 30
)

// within returns ctx with the search's time limit.
func (t Tree) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(t.Time, MaxTime))
}

// maxWorkers is where more workers stop helping, due to the kernel's directory locks.
const maxWorkers = 8

// abortGrace is the time an aborted search waits for its workers. They then end in the background,
// at the latest after matching the current line.
const abortGrace = 100 * time.Millisecond

func (t Tree) workers() int {
	return cmp.Or(max(t.Workers, 0), min(runtime.GOMAXPROCS(0), maxWorkers))
}

func (t Tree) finder() ignore.Finder {
	f := ignore.Finder{Env: t.Env, UserConfig: &ignore.UserConfig{}, Top: t.Enclosing}
	if t.OpenDir != nil {
		f.MapPath = t.instead
	}
	return f
}

// Stable error codes, as the tools report them.
const (
	CodeNotFound  = "not_found"
	CodeArguments = "invalid_arguments"
	CodeIrregular = "not_regular"
	CodeAborted   = "aborted"
	CodeTimeout   = "timeout"
	CodeIO        = "io"
)

// Error is a failed search. The message includes the next step.
type Error struct {
	Code    string
	Message string
	Err     error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the stable code.
func (e *Error) ErrorCode() string { return e.Code }

func invalid(format string, args ...any) error {
	return &Error{Code: CodeArguments, Message: fmt.Sprintf(format, args...)}
}

func aborted(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: CodeTimeout, Message: "the search ran out of time; narrow it with path, include or exclude, or leave out files that are very long or slow to read", Err: err}
	}
	return &Error{Code: CodeAborted, Message: "the search was aborted", Err: err}
}

func rootError(root string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Code: CodeNotFound, Message: root + " does not exist; list its parent folder to see what does", Err: err}
	case errors.Is(err, errNotFolder):
		return &Error{Code: CodeArguments, Message: root + " is not a folder; name a folder", Err: err}
	case errors.Is(err, errNotRegular):
		return &Error{Code: CodeIrregular, Message: root + " is not a regular file, and only those are searched; name a file or a folder", Err: err}
	}
	return &Error{Code: CodeIO, Message: fmt.Sprintf("%s cannot be read: %v; search another folder", root, err), Err: err}
}

var (
	errNotFolder  = errors.New("not a folder")
	errNotRegular = errors.New("not a regular file")
)

// Unreadable counts files that could not be read, with the first few paths in order.
type Unreadable struct {
	Count int
	Paths []string // at most MaxUnreadable
}

// MaxUnreadable bounds the paths in Unreadable.
const MaxUnreadable = 5

func (u *Unreadable) add(path string) {
	u.Count++
	u.name(path)
}

// name inserts a path in order if it is among the first.
func (u *Unreadable) name(path string) {
	at := len(u.Paths)
	for at > 0 && u.Paths[at-1] > path {
		at--
	}
	if at == MaxUnreadable {
		return
	}
	u.Paths = append(u.Paths, "")
	copy(u.Paths[at+1:], u.Paths[at:])
	u.Paths[at] = path
	u.Paths = u.Paths[:min(len(u.Paths), MaxUnreadable)]
}

func (u *Unreadable) merge(o Unreadable) {
	u.Count += o.Count
	for _, p := range o.Paths {
		u.name(p)
	}
}
