package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
)

// GoOn is what a model is told whose work was cut off by the end of the batch.
const GoOn = "The program that ran this was stopped in the middle of your work. Look at what is done already, then go on with the task."

// Elsewhere is what a model is told whose work goes on on another machine.
const Elsewhere = "The machine that ran this was lost in the middle of your work. You are in a new clone: what you had changed is there as it was when it was last saved, " +
	"and what you changed after that is gone. A call without an outcome may have had effects outside of the clone. Look at what is there, then go on with the task."

// PutOff is what a model is told whose work ended because it, or what keeps its session, was not to
// be had.
const PutOff = "Your work was put off in the middle because the model or the server that keeps this session could not be reached. You are in a new clone: what you had " +
	"changed is there as it was when it was last saved. Look at what is there, then go on with the task."

// maxText bounds the answer that a result keeps, in bytes; the whole one is in the session.
const maxText = 64 << 10

// one does a task. An error is about the batch: nothing more may be begun. A task that is stopped
// before its end has no result, and the next run goes on with it.
func (b *Batch) one(ctx context.Context, t Task) error {
	s := State{Task: t, Stage: Waiting}
	r, err := b.steps(ctx, t, &s)
	switch {
	case errors.Is(err, ErrKept):
		return err
	case err != nil || ctx.Err() != nil && r.Cause != CauseDone:
		b.purse.over(t.ID, s.Cost)
		b.owe(t, s.Cost)
		s.Stage, s.Told = Stopped, fmt.Sprint(cmp.Or(err, context.Cause(ctx)))
		b.tell(s)
		return nil
	}
	if err := b.journal.Add(r); err != nil {
		return err
	}
	b.purse.over(t.ID, r.Cost)
	b.clear(t, r)
	s.Stage, s.Result, s.Cost = Finished, &r, r.Cost
	b.tell(s)
	return nil
}

// repositoryHint is the next move after a clone could not be made.
func repositoryHint(err error) string {
	if full(err) {
		return "make room on the disk of the machine where the task ran"
	}
	return "check the address, the ref and what git is allowed to read"
}

// ErrKept marks what could not be written down: without it, a batch that goes on could do a thing
// twice.
var ErrKept = errors.New("how far a task is could not be kept")

// steps takes a task from where it stands to its result.
func (b *Batch) steps(ctx context.Context, t Task, s *State) (r Result, err error) {
	over := b.begin(t)
	defer func() { over(r, err) }()
	unuse, err := b.use(ctx, t)
	if err != nil {
		return r, cmp.Or(context.Cause(ctx), err)
	}
	defer unuse()
	p, err := b.remembered(t)
	if err != nil {
		return r, err
	}
	if p.Cost > 0 && p.Ran == nil {
		s.Cost = new(float64)
		*s.Cost = p.Cost
		b.purse.back(p.Cost)
		b.purse.so(t.ID, p.Cost)
	}
	enter := func(stage Stage) { s.Stage = stage; b.tell(*s) }
	keep := func() error {
		if err := b.remember(ctx, t, p); err != nil {
			return fmt.Errorf("%w: %w", ErrKept, err)
		}
		return nil
	}
	if p.Base == "" || !isThere(b.clone(t)) {
		enter(Fetching)
		if err := b.bring(ctx, t, &p); err != nil {
			if ctx.Err() != nil || errors.Is(err, ErrKept) {
				return r, cmp.Or(context.Cause(ctx), err)
			}
			if b.Away != nil && full(err) {
				return r, err
			}
			return b.finish(t, p, Result{Cause: CauseRepository, Message: err.Error(),
				Hint: repositoryHint(err) + "; then run the batch again with --retry repository"}), nil
		}
		if err := keep(); err != nil {
			return r, err
		}
	}
	if p.Ran == nil {
		enter(Working)
		if r, err = b.worked(ctx, t, &p, s, keep); err != nil {
			return r, err
		}
		if p.Ran == nil {
			return b.finish(t, p, r), nil
		}
	}
	r = *p.Ran
	if t.Check != "" && p.Checked == nil && r.Cause == CauseDone {
		enter(Checking)
		if p.Checked, err = b.check(ctx, t); err != nil {
			return r, err
		}
		if err := keep(); err != nil {
			return r, err
		}
	}
	enter(Patching)
	return b.conclude(ctx, t, p, r)
}

// finish fills in what every result has.
func (b *Batch) finish(t Task, p Progress, r Result) Result {
	r.Task, r.Line, r.Repo, r.Folder, r.Ref, r.Labels, r.Base = t.ID, t.Line, t.Repo, t.Folder, t.Ref, t.Labels, p.Base
	r.Began, r.Ended, r.Check = p.Began, b.now().UTC().Truncate(time.Millisecond), p.Checked
	r.Resumed = max(0, p.Started-1)
	r.OK = r.Cause == CauseDone
	if len(r.Text) > maxText {
		r.Text = strings.ToValidUTF8(r.Text[:maxText], "") + " …"
	}
	return r
}

// conclude judges, and makes the patch and the branch. A patch is made of failed work too: a user
// may mend it.
func (b *Batch) conclude(ctx context.Context, t Task, p Progress, r Result) (Result, error) {
	if r.Cause == CauseDone && p.Checked != nil && !p.Checked.OK {
		r.Cause, r.Message, r.Hint = CauseCheck, "the work was done, and the check failed: "+lastLines(p.Checked.Output, 1), "the patch is there to be looked at"
	}
	c, err := b.changed(ctx, t, p.Base)
	if err == nil {
		r.Patch, r.Changed = c.patch, c.files
	} else if ctx.Err() != nil {
		return r, context.Cause(ctx)
	} else if r.Cause == CauseDone {
		r.Cause, r.Message, r.Hint = CausePatch, err.Error(), "run the batch again with --keep failed --retry patch to look into its clone"
	}
	if b.Push && t.Branch != "" && r.Cause == CauseDone && c.patch != "" {
		if r.Pushed, err = b.push(ctx, t, &p, c); err != nil {
			if ctx.Err() != nil || errors.Is(err, ErrKept) {
				return r, cmp.Or(context.Cause(ctx), err)
			}
			r.Cause, r.Message, r.Hint = CausePush, err.Error(), pushHint(err)
		}
		r.Branch = t.Branch
	}
	return b.finish(t, p, r), nil
}

// work does what the task is about, in its clone.
func (b *Batch) work(ctx context.Context, t Task, p *Progress, s *State, keep func() error) (Result, error) {
	if t.Command != "" {
		return b.command(ctx, t, p, keep)
	}
	var id session.ID
	var ended *session.Result
	if p.Started > 0 {
		var err error
		if id, ended, err = b.Sessions.Last(ctx, b.clone(t), p.Began); err != nil {
			return Result{}, fmt.Errorf("%w: the sessions could not be looked at: %w", ErrKept, err)
		}
	}
	putOff := b.Away != nil && ended != nil && ran(id, *ended).passing()
	if ended != nil && !putOff && (b.Away == nil || begun(ended.Calls) <= p.Calls) && ended.Cause != session.CauseInterrupted && ended.Cause != session.CauseTerminated {
		return ran(id, *ended), nil
	}
	p.Started++
	if err := keep(); err != nil {
		return Result{}, err
	}
	args, input := b.runFlags(t), t.Prompt
	switch s.Resumed = id != ""; {
	case putOff:
		args, input = append(args, "--resume", string(id)), PutOff
	case s.Resumed && b.Away != nil:
		args, input = append(args, "--resume", string(id)), Elsewhere
	case s.Resumed:
		args, input = append(args, "--resume", string(id)), GoOn
	case b.Session != "":
		args = append(args, "--session-id", b.Session)
	}
	saver := b.saver(ctx, t, p, s)
	r, err := b.prompt(ctx, t, args, input, s, saver)
	for try := 0; err == nil && s.Resumed && r.Cause == string(session.CauseStore) && try < lockTries; try++ {
		select { // the adze that the stopped batch had started may still be ending
		case <-ctx.Done():
			return r, context.Cause(ctx)
		case <-time.After(lockWait):
		}
		r, err = b.prompt(ctx, t, args, input, s, saver)
	}
	return r, err
}

// worked does the work and keeps what came of it. Where that is to be tried again on any machine,
// what has changed is all that is kept.
func (b *Batch) worked(ctx context.Context, t Task, p *Progress, s *State, keep func() error) (Result, error) {
	r, err := b.work(ctx, t, p, s, keep)
	if err != nil {
		return r, err
	}
	b.save(ctx, t, p, s.Calls)
	if b.Away == nil || !r.passing() {
		p.Ran = &r
	}
	return r, keep()
}

// begun counts calls.
func begun(calls map[string]map[tool.Status]int) (n int) {
	for _, of := range calls {
		for _, c := range of {
			n += c
		}
	}
	return n
}

// lockTries and lockWait are how often and how soon a session is tried again that another adze
// still has.
const (
	lockTries = 10
	lockWait  = 2 * time.Second
)

// runFlags is the command line of a task's adze. What holds in a sandbox is done without asking,
// unless another mode is named.
func (b *Batch) runFlags(t Task) []string {
	args := []string{"--print", "--output-format", "stream-json"}
	flags := slices.Concat(b.Flags, t.Flags)
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--permission-mode") }) {
		args = append(args, "--permission-mode", "auto")
	}
	return append(args, flags...)
}

// prompt lets a model work, and reads its result. After each message of the model, save is called.
func (b *Batch) prompt(ctx context.Context, t Task, args []string, input string, s *State, save func()) (Result, error) {
	var last *Result
	e, err := b.adze(ctx, b.clone(t), input, args, told, func(line []byte) {
		switch e := decode(line); e.Type {
		case "result":
			var r answer
			if json.Unmarshal(line, &r) == nil {
				over := ran(r.Session, r.Result)
				over.RetryAfter = r.RetryAfter
				last = &over
			}
		case "message":
			s.Turns++
			b.tell(*s)
			save()
		case "tool_start":
			s.Calls, s.Doing = s.Calls+1, e.doing()
			b.tell(*s)
		case "context":
			if s.Cost = e.Cost; s.Cost != nil {
				b.purse.so(t.ID, *s.Cost)
			}
		}
	})
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%w: adze could not be started: %w", ErrKept, err)
	case last != nil && ctx.Err() != nil && (last.Cause == string(session.CauseInterrupted) || last.Cause == string(session.CauseTerminated)):
		return Result{}, context.Cause(ctx)
	case last != nil:
		if s.Cost != nil {
			last.Cost = s.Cost // of the whole session, also of turns before this batch
		}
		return *last, nil
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	}
	return Result{Crashed: true, Cause: string(session.CauseInternal), Message: fmt.Sprintf("adze ended with %d and without a result: %s", e.code, lastLines(e.said, 3))}, nil
}

// answer is the last line of an adze: how its turn ended, and in which session.
type answer struct {
	Session    session.ID `json:"session"`
	RetryAfter *int64     `json:"retry_after_ms"`
	session.Result
}

// ran is the result of a turn that is over.
func ran(id session.ID, r session.Result) Result {
	var after *int64
	if r.Limited != nil {
		after = new(r.Limited.Milliseconds())
	}
	return Result{
		RetryAfter: after,
		Cause:      string(r.Cause), Message: r.Message, Hint: r.Hint, Text: r.Text, Session: id, Usage: r.Usage, Cost: r.Cost,
		Turns: r.Steps, Calls: r.Calls, Denied: r.Denied,
	}
}
