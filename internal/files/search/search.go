// Package search finds files and lines in a tree: the engine behind glob, grep and list.
//
// The one rule: a walk only ever touches a folder through the descriptor of the folder above it,
// takes an entry's type from the folder, and opens nothing but regular files. So no link leads it
// out of the tree or round in circles, and no FIFO or device makes it wait.
//
// Start reading at Tree, then Tree.Glob, Tree.Grep and Tree.List. Below them: walk.go hands out
// folders to workers, scope.go decides which entries count, glob pattern matching is in pattern.go,
// folder_linux.go and folder_other.go read folders (one more file than usual: each system has its
// own way to hold a folder open), now_linux.go makes the calls that never wait. Package
// ignore decides what git would ignore, package match finds lines.
//
// What a walk shows: regular files and links that no ignore rule excludes; hidden ones (a name that
// begins with a dot) only where a pattern names the dot; ".git" never. Results are in the order of
// their paths whatever the order of the work, totals are exact unless the query lets a search end
// at its limit, and memory is bounded by what is asked for, not by what is there: large folders are
// read in parts, files through a rolling buffer. A search ends within Tree.Time. Holes of sparse
// files are not read, a file that turns out to be mostly NULs is given up as binary, and of any
// other at most Tree.FileBytes are read.
//
// Known limits: file names are compared byte by byte, also where the file system folds case; a file
// that changes during a search is searched as it is read; List, and every walk on other systems
// than Linux, holds a folder as a whole (about 50 bytes an entry).
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

// Tree is where to search. The zero value but for Root is ready to use.
type Tree struct {
	// Root is the absolute path of a folder, or for Grep of a file, free of links.
	Root string
	// Env looks up the variables that say where git's configuration lies; nil means os.Getenv.
	Env func(string) string
	// Stands is the absolute path of a folder, of which Root may be a part. Outside a repository,
	// .gitignore files count from there on. Via, when given, is an open folder that is looked into
	// in its place.
	Via    *os.File
	Stands string
	// Workers bounds the folders worked on at once; 0 means one a processor, up to 8.
	Workers int
	// Withhold, when given, says which files are not to be read: dir is absolute and ends in a
	// slash. Glob and Grep leave those out and count them; workers ask at the same time. A file
	// that is the root itself is not asked for.
	Withhold func(dir, name string) bool
	// Time bounds one search; 0 means MaxTime.
	Time time.Duration
	// FileBytes bounds what Grep reads of one file, in bytes, holes left out; 0 means MaxFile.
	FileBytes int64
	// Texts are searched by Grep in place of what files of the walk hold, by their paths from Root;
	// that of a file that is the root itself is empty. Those of files that the walk does not come
	// to are left out.
	Texts map[string]string
	// Visited, when given, counts the files looked at while a search runs, for somebody who
	// watches.
	Visited *atomic.Int64
}

// withheld asks about the files of one folder of the walk; if nil, none of them is held back.
func (t Tree) withheld(d *dir) func(name string) bool {
	if t.Withhold == nil {
		return nil
	}
	at := strings.TrimSuffix(t.Root, "/") + "/" + d.path
	return func(name string) bool { return t.Withhold(at, name) }
}

// visited counts files that have been looked at.
func (t Tree) visited(n int) {
	if t.Visited != nil {
		t.Visited.Add(int64(n))
	}
}

// The usual bounds of one search. Both are far beyond what a tree of sources needs.
const (
	MaxTime = 50 * time.Second
	MaxFile = 4 << 30
)

// within is ctx with the time that a search has.
func (t Tree) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, cmp.Or(t.Time, MaxTime))
}

// maxWorkers is where more workers stop paying: the kernel's directory locks become the limit.
const maxWorkers = 8

// abortGrace is how long an aborted search waits for its workers to notice. After it the caller
// goes on and they end by themselves, at the latest when the line in hand is matched.
const abortGrace = 100 * time.Millisecond

func (t Tree) workers() int {
	return cmp.Or(max(t.Workers, 0), min(runtime.GOMAXPROCS(0), maxWorkers))
}

func (t Tree) finder() ignore.Finder {
	f := ignore.Finder{Env: t.Env, Person: &ignore.Person{}, Top: t.Stands}
	if t.Via != nil {
		f.At = t.instead
	}
	return f
}

// Stable error codes, those of the tools.
const (
	CodeNotFound  = "not_found"
	CodeArguments = "invalid_arguments"
	CodeIrregular = "not_regular"
	CodeAborted   = "aborted"
	CodeTimeout   = "timeout"
	CodeIO        = "io"
)

// Error is a failed search. Its message says what happened and the next move.
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

// aborted turns the end of a context into an error with a code.
func aborted(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Code: CodeTimeout, Message: "the search ran out of time; narrow it with path, include or exclude, or leave out files that are very long or slow to read", Err: err}
	}
	return &Error{Code: CodeAborted, Message: "the search was aborted", Err: err}
}

// rootError explains why the root cannot be searched.
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

// Unreadable counts what could not be read, be it by its rights or its content, with the first few
// paths in order.
type Unreadable struct {
	Count int
	Paths []string // at most MaxUnreadable
}

// MaxUnreadable bounds the unreadable paths that are named.
const MaxUnreadable = 5

// add counts a path.
func (u *Unreadable) add(path string) {
	u.Count++
	u.name(path)
}

// name enters a path in order if it is among the first.
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

// merge adds what another worker counted.
func (u *Unreadable) merge(o Unreadable) {
	u.Count += o.Count
	for _, p := range o.Paths {
		u.name(p)
	}
}
