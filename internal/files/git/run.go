package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
)

// Bounds for one git process, in bytes.
const (
	maxText   = 256 << 10 // for output kept whole
	maxRecord = 64 << 10  // for one record; the rest is dropped
	maxErrors = 8 << 10
	// maxOutput ends a git that writes too much, such as the diff of a generated tree.
	maxOutput = 1 << 30
)

type call struct {
	args []string
	// options precede the subcommand and follow safeOptions.
	options []string
	keep    int // bytes kept from the output's start
	input   []byte
	stream  func([]byte)
	// plain omits the hardening, to read the user's view of settings, for which git runs nothing.
	plain bool
	// whole makes what git could not read an error: it may go on without, and exit with 0.
	whole bool
}

// run runs hardened git in r's folder. The error is nil if it exited with 0.
func (r *Repo) run(ctx context.Context, c call) (proc.Text, error) {
	argv, env := append([]string{"git"}, slices.Concat(safeOptions(), r.withoutNamed(), c.options)...), environ(r.git.Env, r.home())
	if c.plain {
		argv, env = []string{"git", "--no-pager"}, r.git.Env
	}
	timeout := r.git.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	res, err := r.git.Supervisor.Run(ctx, proc.Command{
		Argv: append(argv, c.args...), Dir: r.dir, Env: env, Tag: "git " + c.args[0],
		Timeout: timeout, Separate: true, Head: max(c.keep, maxErrors), Tail: 1, MaxOutput: maxOutput, Spill: c.stream, Input: c.input,
	})
	if err != nil {
		return proc.Text{}, r.startError(err)
	}
	return res.Output, r.verdict(ctx, c, res)
}

// home returns the worktree or, before git reported it, the nearest folder that looks like one.
func (r *Repo) home() string {
	if r.Top != "" {
		return r.Top
	}
	for dir := r.dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return r.dir
		}
	}
}

func (r *Repo) text(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, call{args: args, keep: maxText})
	if err == nil && out.Tail != "" {
		err = fail(CodeIO, nil, "git %s answered with %d bytes, more than are read; look with bash", args[0], out.Bytes)
	}
	return out.Head, err
}

// records runs git for NUL-terminated records of any total length.
func (r *Repo) records(ctx context.Context, each func(string), args ...string) error {
	s := splitter{emit: each}
	_, err := r.run(ctx, call{args: args, stream: s.write})
	if err == nil && len(s.pending) > 0 {
		err = fail(CodeIO, nil, "git %s ended in the middle of its answer; try again", args[0])
	}
	return err
}

type splitter struct {
	emit    func(string)
	pending []byte
}

func (s *splitter) write(chunk []byte) {
	for {
		end := bytes.IndexByte(chunk, 0)
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		s.pending = append(s.pending, part[:min(len(part), maxRecord-len(s.pending))]...)
		if end < 0 {
			return
		}
		s.emit(string(s.pending))
		s.pending, chunk = s.pending[:0], chunk[end+1:]
	}
}

func (r *Repo) startError(err error) error {
	var e *proc.Error
	if errors.As(err, &e) && e.Code == proc.CodeNotFound {
		return fail(CodeNotFound, ErrMissing, "git is not installed, or not in PATH; ask the user to install it, or work without")
	}
	if errors.As(err, &e) {
		return fail(e.Code, err, "git could not be started: %v", err)
	}
	return err
}

// verdict converts a process result to an error for a model.
func (r *Repo) verdict(ctx context.Context, c call, res proc.Result) error {
	name := "git " + c.args[0]
	switch {
	case res.Err() == nil && !(c.whole && strings.Contains("\n"+res.Errors.Head, "\nerror: ")):
		return nil
	case res.Killed != "" && ctx.Err() != nil:
		return fail(CodeAborted, context.Cause(ctx), "%s was aborted", name)
	case res.Killed == proc.Timeout:
		return fail(CodeTimeout, nil, "%s did not end in time and was ended; narrow the path", name)
	case res.Killed == proc.Limited:
		return fail(CodeIO, nil, "%s wrote more than %d bytes and was ended; narrow the path", name, int64(maxOutput))
	case res.Killed != "" || res.Signal != 0:
		return fail(CodeIO, nil, "%s was ended from outside (%s); try again", name, proc.SignalName(res.Signal))
	}
	return r.explain(name, res.Errors.Head)
}

// explain rewrites errors that have a next step; LC_ALL makes git's messages English.
func (r *Repo) explain(name, stderr string) error {
	said := lastMessage(stderr)
	switch {
	case strings.Contains(stderr, "not a git repository"):
		return fail(CodeNotFound, ErrNotRepository, "%s is not in a git repository; name a folder that is, or ask the user to run git init", r.dir)
	case strings.Contains(stderr, "safe.bareRepository"), strings.Contains(stderr, "must be run in a work tree"):
		return fail(CodeInvalid, ErrNoWorkTree, "%s is inside a repository without a work tree; name a folder of files", r.dir)
	case strings.Contains(stderr, "dubious ownership"):
		return fail(CodeInvalid, ErrNotRepository, "the repository belongs to another user, so git does not read it; the user can allow it with git config --global --add safe.directory %s", r.dir)
	case strings.Contains(stderr, "promisor remote"), strings.Contains(stderr, "lazy fetch"):
		return fail(CodeIO, nil, "the repository is a partial clone and lacks objects for this, which are not fetched here; the user can run git fetch")
	}
	return fail(CodeIO, nil, "%s failed: %s", name, said)
}

// lastMessage returns the last error or hint from git without its label, with the indented names
// below it, shortened if long.
func lastMessage(stderr string) string {
	said := "it gave no reason"
	for line := range strings.Lines(strings.ReplaceAll(stderr, "\n\t", " ")) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "fatal: "); ok {
			return cut(rest, 500)
		}
		if line != "" {
			said = strings.TrimPrefix(line, "error: ")
		}
	}
	return cut(said, 500)
}

func cut(s string, size int) string {
	if len(s) > size {
		return s[:size] + "…"
	}
	return s
}
