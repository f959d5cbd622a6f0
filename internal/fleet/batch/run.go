package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"adze/session"
)

// Keep selects the clones that are kept after their tasks.
type Keep string

// Values of Keep.
const (
	KeepNone   Keep = "none"
	KeepFailed Keep = "failed"
	KeepAll    Keep = "all"
)

// A Runner runs single tasks, each in a new clone. It is safe for concurrent use.
type Runner struct {
	Dir     string   // absolute folder for clones, used by one process
	Program string   // this adze's path
	Env     []string // for git and adze
	Keys    []string // variables for adze that git and tasks do not see
	Keep    Keep
	// Gate selects the permission flags, for a command without a model.
	Gate func(flags []string) []string
	// MaxTime returns the time limit in flags, which also applies to a command and a check. 0 means
	// none.
	MaxTime func(flags []string) time.Duration
	// OnRemoved is called after a clone was removed. It may be nil.
	OnRemoved func(clone string)
	// Begin is called when a task starts: its adze gets env, and over is called at its end, with an
	// empty cause if the task has no result. It may be nil.
	Begin func() (env []string, over func(ok bool, cause string))

	references references
}

type work struct {
	*Runner
	t     Task
	dir   string // holds the clone and git's files beside it
	env   []string
	base  string
	began time.Time
	line  func([]byte)
}

func (w *work) clone() string { return filepath.Join(w.dir, "repository") }

// maxText limits the answer in a result, in bytes; the session has all of it.
const maxText = 64 << 10

// ErrFull means that the disk has no space for a task.
var ErrFull = errors.New("the disk is full")

// RunTask runs a task in a new clone called name and writes its patch. It calls line for each line
// from the task's adze, and with a "stage" line before each stage. It returns an error if the task
// has no result: ctx's cause, ErrFull, or a failed start.
func (r *Runner) RunTask(ctx context.Context, t Task, name, patch string, line func([]byte)) (out Result, err error) {
	w := &work{Runner: r, t: t, dir: filepath.Join(r.Dir, name), began: time.Now().UTC().Truncate(time.Second), line: line}
	if r.Begin != nil {
		env, over := r.Begin()
		w.env = env
		defer func() {
			if err != nil {
				out = Result{}
			}
			over(out.OK, out.Cause)
		}()
	}
	defer func() { w.remove(out) }()
	if out, err = w.steps(ctx, patch); err == nil && ctx.Err() != nil && out.Cause != CauseDone {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	return w.finish(out), nil
}

func (w *work) stage(s Stage) { w.line([]byte(`{"type":"stage","stage":"` + string(s) + `"}`)) }

// steps runs a task from its clone to its patch.
func (w *work) steps(ctx context.Context, patch string) (r Result, err error) {
	w.stage(Fetching)
	if err := w.fetch(ctx); err != nil {
		if ctx.Err() == nil && full(err) {
			return r, fmt.Errorf("%w: %w", ErrFull, err)
		}
		return Result{Cause: CauseRepository, Message: err.Error(),
			Hint: "check the address, the ref and what git is allowed to read; then run the batch again with --retry repository"}, nil
	}
	w.stage(Working)
	if w.t.Command != "" {
		r, err = w.command(ctx)
	} else {
		r, err = w.prompt(ctx)
	}
	if err != nil {
		return r, err
	}
	if w.t.Check != "" && r.Cause == CauseDone {
		w.stage(Checking)
		if r.Check, err = w.check(ctx); err != nil {
			return r, err
		}
		if !r.Check.OK {
			r.Cause, r.Message, r.Hint = CauseCheck, "the work was done, and the check failed: "+lastLines(r.Check.Output, 1), "the patch is there to be looked at"
		}
	}
	w.stage(Patching)
	tree, err := w.patch(ctx, patch, &r) // also of failed work, which a user may fix
	if err != nil && r.Cause == CauseDone {
		r.Cause, r.Message, r.Hint = CausePatch, err.Error(), "run the batch again with --keep failed --retry patch to look into its clone"
	}
	if w.t.Branch != "" && r.Cause == CauseDone && r.Patch != "" {
		r.Branch = w.t.Branch
		if r.Pushed, err = w.push(ctx, tree); err != nil {
			r.Cause, r.Message, r.Hint = CausePush, err.Error(), pushHint(err)
		}
	}
	return r, nil
}

func (w *work) finish(r Result) Result {
	t := w.t
	r.Task, r.Line, r.Repo, r.Folder, r.Ref, r.Labels, r.Base = t.ID, t.Line, t.Repo, t.Folder, t.Ref, t.Labels, w.base
	r.StartedAt, r.Ended, r.OK = w.began, time.Now().UTC().Truncate(time.Millisecond), r.Cause == CauseDone
	if len(r.Text) > maxText {
		r.Text = strings.ToValidUTF8(r.Text[:maxText], "") + " …"
	}
	return r
}

// remove removes the clone, unless it is kept, and git's files beside it.
func (w *work) remove(r Result) {
	w.keepReference()
	clone := w.clone()
	if w.Keep == KeepAll && r.Cause != "" || w.Keep == KeepFailed && r.Cause != "" && !r.OK {
		for _, name := range []string{"source.git", "index"} {
			_ = os.RemoveAll(filepath.Join(w.dir, name)) // errors leave files behind
		}
		return
	}
	if real, err := filepath.EvalSymlinks(clone); err == nil {
		clone = real
	}
	_ = os.RemoveAll(w.dir) // errors leave files behind
	if w.OnRemoved != nil {
		w.OnRemoved(clone)
	}
}

// full reports whether an error is about disk space; git's is known by its text only.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || strings.Contains(err.Error(), "No space left on device")
}

// Full reports whether an error is about this machine's disk space.
func Full(err error) bool { return err != nil && (errors.Is(err, ErrFull) || full(err)) }

// mode puts permission mode auto in front of flags without a mode: sandboxed actions run, others
// are denied.
func mode(flags []string) []string {
	if slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--permission-mode") }) {
		return flags
	}
	return append([]string{"--permission-mode", "auto"}, flags...)
}

// answer is adze's last output line.
type answer struct {
	Session    session.ID `json:"session"`
	RetryAfter *int64     `json:"retry_after_ms"`
	session.Result
}

// prompt runs a task with a model and reads its result.
func (w *work) prompt(ctx context.Context) (Result, error) {
	var last *answer
	var cost *float64
	args := append([]string{"--print", "--output-format", "stream-json"}, mode(w.t.Flags)...)
	e, err := w.adze(ctx, w.clone(), w.env, w.t.Prompt, args, func(line []byte) {
		w.line(line)
		switch kindOf(line) {
		case "result":
			a := &answer{}
			if json.Unmarshal(line, a) == nil {
				last = a
			}
		case "context":
			var c struct {
				Cost *float64 `json:"cost_usd"`
			}
			if json.Unmarshal(line, &c) == nil && c.Cost != nil {
				cost = c.Cost
			}
		}
	})
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("adze could not be started: %w", err)
	case ctx.Err() != nil && (last == nil || last.Cause == session.CauseInterrupted || last.Cause == session.CauseTerminated):
		return Result{}, context.Cause(ctx)
	case last == nil:
		return Result{Cause: string(session.CauseInternal), Message: fmt.Sprintf("adze ended with %d and without a result: %s", e.code, lastLines(e.stderr, 3)), Cost: cost}, nil
	}
	if last.Cost == nil {
		last.Cost = cost
	}
	return Result{RetryAfter: last.RetryAfter, Cause: string(last.Cause), Message: last.Message, Hint: last.Hint, Text: last.Text, Session: last.Session,
		Usage: last.Usage, Cost: last.Cost, Turns: last.Steps, Calls: last.Calls, Denied: last.Denied}, nil
}

// command runs a task without a model, as a normal tool call.
func (w *work) command(ctx context.Context) (Result, error) {
	h, err := w.shell(ctx, w.t.Command)
	r := Result{Cause: CauseDone, Text: h.Output, Session: session.ID(h.Session)}
	switch {
	case err != nil:
		return r, err
	case h.ExitCode != 0:
		r.Message = "the command did not succeed: " + cmp.Or(lastLines(h.Output, 1), h.Code)
		switch r.Cause = string(session.CauseTool); h.ExitCode {
		case 6:
			r.Cause = string(session.CauseBudget)
		case 7:
			r.Cause = string(session.CauseDenied)
		}
	}
	return r, nil
}

// check runs the command that decides whether a task succeeded.
func (w *work) check(ctx context.Context) (*Checked, error) {
	h, err := w.shell(ctx, w.t.Check)
	if err != nil {
		return nil, err
	}
	out := h.Output
	if len(out) > 8<<10 {
		out = "… " + strings.ToValidUTF8(out[len(out)-8<<10:], "")
	}
	return &Checked{Command: w.t.Check, OK: h.ExitCode == 0, Output: out}, nil
}

// shellResult is adze tools run's output.
type shellResult struct {
	Session  string `json:"session"`
	Status   string `json:"status"`
	Code     string `json:"code"`
	ExitCode int    `json:"exit_code"`
	Output   string `json:"output"`
}

// maxCommand limits a command whose flags set no shorter time. The configuration's bash_max_timeout
// applies too.
const maxCommand = 30 * time.Minute

func (w *work) shell(ctx context.Context, command string) (h shellResult, err error) {
	most := maxCommand
	if limit := w.MaxTime(w.t.Flags); limit > 0 {
		most = min(limit, most)
	}
	args, err := json.Marshal(map[string]any{"command": command, "description": "a command of a batch", "timeout": math.Ceil(most.Seconds())})
	if err != nil {
		return h, err
	}
	line := append([]string{"tools", "run", "bash", "--json", "--args", "-"}, mode(w.Gate(w.t.Flags))...)
	e, err := w.adze(ctx, w.clone(), w.env, string(args), line, func(raw []byte) { _ = json.Unmarshal(raw, &h) })
	switch {
	case err != nil:
		return h, fmt.Errorf("adze could not be started: %w", err)
	case ctx.Err() != nil:
		return h, context.Cause(ctx)
	case h.Status == "":
		h.ExitCode, h.Output = max(1, e.code), cmp.Or(e.stderr, "adze ended without a word")
	}
	return h, nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
