// Package batch implements adze batch: the same work in many repositories, on this machine or on
// workers.
//
// The one rule: results.jsonl and the patches are the complete result; progress output is for the
// user and may be missed.
//
// Start reading at Command; remote.go submits to workers and follows them, worker.go runs one.
// Package internal/fleet/batch runs tasks, package fleet shares them among workers.
//
// Known limits: the tests run the whole program and are in internal/cmd.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/signals"
	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

// Program is the interface to the program that the command uses.
type Program interface {
	// Runner returns a runner for tasks.
	Runner() (*batch.Runner, error)
	// RunFlags returns an error for invalid flags for a task's adze.
	RunFlags(flags []string) error
	// Server connects to a server; "" means the environment's.
	Server(ctx context.Context, on string) (*fleet.Server, error)
	// Worker returns a worker for this machine and its cleanup. It fails if the machine's sandbox
	// is below level.
	Worker(s *fleet.Server, dir, level string, limits fleet.Limits) (*fleet.Worker, func(), error)
}

type command struct {
	*cmd.Env
	Program
}

const long = `FILE has one task a line, as JSON:

  {"repo": "https://host/a.git", "ref": "main", "prompt": "move to v2 of the client", "check": "go test ./..."}
  {"id": "b", "folder": "../b", "command": "gofmt -w .", "labels": {"team": "core"}, "branch": "gofmt"}

A task has a repo (as git clone takes it) or a folder, and a prompt or a command; ref, check, flags, branch, message, labels and id
are as you like. Each is done in a clone of its own by an adze of its own, in permission mode auto unless a mode is named: what
the sandbox holds is done, the rest is denied. The flags behind -- go to each of them, a task's own flags follow.

The folder of results (FILE without its ending, and .batch) gets results.jsonl and a patch of each task that changed something:
git apply --index patches/ID.patch applies it to the commit that "base" names. When a batch that was stopped or killed is run again,
tasks with a result are left alone, unless --retry names its cause. The others begin anew, each in a new clone: what an earlier try did
outside its clone may be done twice.

With --on, workers do the tasks (adze batch worker), and the command follows them. It can be stopped and run again.

--max-time among the flags of a task bounds its prompt or command, and its check, each.

Exits with 0 when all tasks succeeded, 8 when one did not, 6 when --max-cost stopped them, 10 when a result could not be kept or the
server did not answer.`

// Command returns adze batch.
func Command(e *cmd.Env, p Program) *cobra.Command {
	r := command{e, p}
	c := &cobra.Command{Use: "batch FILE [-- FLAGS]", Annotations: cmd.CallableByTools(), Short: "Run a file of tasks, each in its own clone", Long: long, Args: cmd.RangeArgs(1, -1),
		Example: `  adze batch tasks.jsonl
  adze batch tasks.jsonl --jobs 8 --max-cost 20 -- --model PROVIDER/NAME --max-turns 60
  adze batch tasks.jsonl --retry provider,check
  adze batch tasks.jsonl --push --json | jq -r 'select(.ok | not) | .task'
  adze batch tasks.jsonl --on nats://localhost:4222        workers do it (adze batch worker)`,
		RunE: r.run}
	f := c.Flags()
	f.IntP("jobs", "j", 4, "how many tasks run at a time; with --on: of each label (default there: any number)")
	f.String("out", "", "the `DIR` of results (default: FILE without its ending, and .batch)")
	f.String("keep", string(batch.KeepNone), "which clones to keep: none, failed or all")
	f.Float64("max-cost", 0, "most `USD` for all tasks together, where prices are known, earlier runs included")
	f.Bool("push", false, "push the branch that a task names when it succeeds; an existing branch is left alone")
	f.StringSlice("retry", nil, "repeat tasks whose result has one of these `CAUSES`, such as provider,check")
	f.Bool("json", false, "print results as JSON lines")
	f.String("on", "", "have workers do the tasks by this NATS server, nats://HOST:PORT; \"here\": this machine does them (default: $ADZE_NATS, or here)")
	f.Bool("detach", false, "with --on: submit and print the id of the batch; the same command without it follows")
	f.String("label", fleet.UsualLabel, "with --on: the `LABEL` of tasks that have no label \"queue\"")
	f.Int("priority", fleet.UsualPriority, "with --on: 1 comes first, 3 last, for tasks that have no label \"priority\" (p1, p2, p3)")
	f.Int("attempts", fleet.UsualAttempts, "with --on: how often a task is begun at most when workers are lost")
	r.gone(c, "listen", "figures for Prometheus are gone; results.jsonl and --json have what became of each task")
	return cmd.WithSubcommands(c, append(r.lookCommands(), r.workerCommand())...)
}

// OldCommands returns adze worker and adze runs, now below adze batch.
func OldCommands(e *cmd.Env, p Program) []*cobra.Command {
	r := command{e, p}
	looks := r.lookCommands()
	for name, instead := range map[string]string{
		"retry": "run adze batch FILE --on … --retry CAUSE, which submits those tasks anew",
		"stats": "adze batch list counts them",
		"limit": "adze batch FILE --on … --jobs N bounds how many run at a time",
	} {
		looks = append(looks, &cobra.Command{Use: name, Annotations: cmd.CallableByTools(), Args: cobra.ArbitraryArgs, Hidden: true, Short: "Gone",
			RunE: func(*cobra.Command, []string) error { return usage.Mistake(instead, "adze runs %s is gone", name) }})
	}
	return cmd.HideOldNames(r.workerCommand(), cmd.Group("runs", "Look at batches of workers: adze batch", looks...))
}

// gone adds a removed flag that fails with its replacement.
func (r command) gone(c *cobra.Command, name, instead string) {
	c.Flags().Func(name, "", func(string) error {
		fmt.Fprintf(r.Err, "! --%s is left out: %s\n", name, instead)
		return nil
	})
	_ = c.Flags().MarkHidden(name) // it exists
}

// signalled returns a context that ends at a signal.
func signalled(c *cobra.Command) (ctx context.Context, cancel context.CancelCauseFunc, stop func()) {
	ctx, cancel = context.WithCancelCause(c.Context())
	unwatch := signals.Watch(cancel, func(session.Cause) { os.Exit(130) }, nil)
	return ctx, cancel, func() { unwatch(); cancel(nil) }
}

func (r command) run(c *cobra.Command, words []string) error {
	b, err := r.settle(c, words)
	if err != nil {
		return err
	}
	ctx, cancel, stop := signalled(c)
	defer stop()
	on, _ := c.Flags().GetString("on")
	if on = cmp.Or(on, r.Getenv("ADZE_NATS")); on != "" && on != "here" {
		return r.submit(ctx, c, b, on)
	}
	for _, name := range []string{"detach", "label", "priority", "attempts"} {
		if c.Flags().Changed(name) {
			return usage.Mistake("add --on nats://HOST:PORT, or set ADZE_NATS", "--%s is of a batch that workers do, and no server is named", name)
		}
	}
	if at := submitted(b.OutputDir); at.Batch != "" {
		return usage.Mistake("add --on "+at.Host+", or name another folder with --out", "the tasks of %s were submitted as batch %s", b.OutputDir, at.Batch)
	}
	view := r.newView(len(b.Tasks))
	b.Watch = func(s batch.State) {
		view.take(s)
		if cmd.Flagged(c, "json") && s.Result != nil && r.WriteJSON(*s.Result) != nil {
			cancel(session.ErrClosed)
		}
	}
	report, err := b.Run(ctx)
	view.wipe()
	if !cmd.Flagged(c, "json") {
		r.summary(b, report)
	}
	return r.conclude(b, report, err)
}

func (r command) newView(tasks int) *view {
	f, ok := r.Err.(*os.File)
	return &view{out: r.Err, mask: r.Mask(), all: tasks, live: ok && term.IsTerminal(f.Fd()), began: time.Now(), running: map[string]batch.State{}}
}

// settle builds the batch from the command line.
func (r command) settle(c *cobra.Command, words []string) (*batch.Batch, error) {
	at := c.ArgsLenAtDash()
	if at == 0 || at < 0 && len(words) > 1 || at > 1 {
		return nil, usage.Mistake("put flags for the tasks behind --, as in adze batch tasks.jsonl -- --model NAME", "adze batch takes one file")
	}
	runner, err := r.Runner()
	if err != nil {
		return nil, err
	}
	b := &batch.Batch{Runner: runner, Flags: words[1:], Retry: map[string]bool{}}
	if err := r.RunFlags(b.Flags); err != nil {
		return nil, err
	}
	f := c.Flags()
	b.Jobs, _ = f.GetInt("jobs")
	b.MaxCost, _ = f.GetFloat64("max-cost")
	b.Push, _ = f.GetBool("push")
	keep, _ := f.GetString("keep")
	if b.Keep = batch.Keep(keep); !slices.Contains([]batch.Keep{batch.KeepNone, batch.KeepFailed, batch.KeepAll}, b.Keep) {
		return nil, usage.Mistake("--keep none, failed or all", "--keep takes no %q", keep)
	}
	if b.Jobs < 1 || b.MaxCost < 0 {
		return nil, usage.Mistake("one job at least; 0 means any cost", "--jobs or --max-cost is too small")
	}
	causes, _ := f.GetStringSlice("retry")
	for _, cause := range causes {
		b.Retry[strings.TrimSpace(cause)] = true
	}
	out, _ := f.GetString("out")
	if b.OutputDir, err = filepath.Abs(cmp.Or(out, strings.TrimSuffix(words[0], filepath.Ext(words[0]))+".batch")); err != nil {
		return nil, err
	}
	if out == "" && words[0] == "-" {
		return nil, usage.Mistake("add --out DIR", "tasks from stdin have no name that results could be kept under")
	}
	b.Tasks, err = r.tasks(words[0])
	return b, err
}

// tasks reads the file and reports all its mistakes at once.
func (r command) tasks(name string) ([]batch.Task, error) {
	in, dir := io.Reader(r.In), "."
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, usage.Mistake("name a file with one task a line (adze batch --help)", "%v", err)
		}
		defer f.Close()
		in, dir = f, filepath.Dir(name)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	tasks, err := batch.Read(in, dir, r.RunFlags)
	var wrong *batch.Mistakes
	switch {
	case errors.As(err, &wrong):
		return nil, usage.Mistake("mend them; nothing was begun", "%s: %s", name, wrong.Error())
	case err != nil:
		return nil, usage.Mistake("check the file", "%v", err)
	case len(tasks) == 0:
		return nil, usage.Mistake("adze batch --help shows what a task looks like", "%s has no task", name)
	}
	return tasks, nil
}

func (r command) summary(b *batch.Batch, report batch.Report) {
	tasks, patches := map[string]int{}, map[string]int{}
	for _, res := range report.Results {
		if tasks[res.Cause]++; res.Patch != "" {
			patches[res.Cause]++
		}
	}
	table := r.Columns()
	fmt.Fprint(table, "cause\ttasks\tpatches\n")
	for _, cause := range slices.SortedFunc(maps.Keys(tasks), func(a, b string) int { return cmp.Or(tasks[b]-tasks[a], strings.Compare(a, b)) }) {
		fmt.Fprintf(table, "%s\t%d\t%d\n", safeterm.Name(cause), tasks[cause], patches[cause])
	}
	if n := len(report.Waiting); n > 0 {
		fmt.Fprintf(table, "not finished\t%d\t\n", n)
	}
	_ = table.Flush() // the reader is gone; the results are in their file
	r.Show("results and patches: %s\n", safeterm.Name(b.OutputDir))
	if report.Cost > 0 {
		unpriced := ""
		if report.Unpriced > 0 {
			unpriced = ", without " + plural.Of(report.Unpriced, "task") + " whose cost is not known"
		}
		r.Show("cost: $%.4f%s\n", report.Cost, unpriced)
	}
}

func (r command) conclude(b *batch.Batch, report batch.Report, err error) error {
	failed := len(slices.DeleteFunc(slices.Clone(report.Results), func(res batch.Result) bool { return res.OK }))
	again := "run the same command again: it goes on with the " + plural.Of(len(report.Waiting), "task") + " left"
	switch {
	case errors.Is(err, batch.ErrMaxCost):
		r.Conclude(session.CauseBudget, fmt.Sprintf("%v: $%.2f of $%.2f; those that ran were stopped", err, report.Cost+report.Stopped, b.MaxCost), "raise --max-cost, then "+again)
	case errors.Is(err, session.ErrInterrupted), errors.Is(err, session.ErrTerminated), errors.Is(err, session.ErrClosed):
		cause := session.Sort(err).Cause
		r.Conclude(cause, fmt.Sprintf("stopped (%s)", cause), again)
	case err != nil && len(report.Results) == 0 && len(report.Waiting) == 0:
		return usage.Mistake("nothing was begun; "+hint(err, "mend that, or name another folder with --out"), "%v", err)
	case err != nil:
		r.Conclude(session.CauseStore, err.Error(), hint(err, "mend what the message names")+", then "+again)
	case failed > 0:
		r.Conclude(session.CauseTool, fmt.Sprintf("%d of %d tasks did not succeed", failed, len(report.Results)), "results.jsonl has their causes; --retry CAUSE does them again")
	case len(report.Waiting) > 0:
		r.Conclude(session.CauseTool, plural.Of(len(report.Waiting), "task")+" without a result: the batch was cancelled", "--retry cancelled submits what has a result anew; another --out all")
	}
	return nil
}

// hint returns the next step for an error's cause, or other.
func hint(err error, other string) string {
	var own interface{ Hint() string }
	switch {
	case errors.Is(err, batch.ErrBusy):
		return "wait until the other one ends, or name another folder with --out"
	case errors.Is(err, batch.ErrNobody):
		return "set user.name and user.email with git config --global, or leave out --push"
	case batch.Full(err):
		return "make room on the disk of this machine"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "check who may write there, or name another folder with --out"
	case errors.As(err, &own):
		return own.Hint() + "; " + other
	}
	return other
}
