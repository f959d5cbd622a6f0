// Package batch is adze batch, adze worker and adze runs: the same work in many repositories, here
// or by workers, and what is shown of it.
//
// The one rule: what a task came to is in results.jsonl and in its patch; what is shown on the way
// is for people and may be missed.
//
// Start reading at Command, then progress.go (lines and the live table); remote.go submits,
// worker.go takes, runs.go and change.go look and change. How tasks are done is in package batch,
// how workers share them in package fleet.
//
// Known limits: none that are known. The tests run the whole program and stand in internal/run.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/run/signals"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

// Program is what the command asks of the program.
type Program interface {
	// Batch makes a batch with what it needs of this program.
	Batch() (*batch.Batch, error)
	// Listen answers for health, readiness (nil: always) and figures at an address until stop. It
	// comes before Batch and Worker.
	Listen(address string, ready func() error) (stop func(), err error)
	// RunFlags says what is wrong with flags that a task's adze gets.
	RunFlags(flags []string) error
	// Fleet connects to a server; an empty address is that of the environment.
	Fleet(ctx context.Context, on string) (*Fleet, error)
	// Worker makes a worker of this machine that does what is admitted, with its clones below dir,
	// and returns what ends it. An empty dir stands for the usual folder. Where the sandbox of this
	// machine is below the level it is an error.
	Worker(f *Fleet, dir, level string, admits fleet.Admission) (*fleet.Worker, func(), error)
}

type runs struct {
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
git apply --index patches/ID.patch applies it to the commit that "base" names. A batch that was stopped or killed goes on where it was
when it is run again; tasks that have a result are left alone unless --retry names its cause.

With --max-cost a task begins as long as all of them have cost less than the limit, here and by workers alike. When it is reached,
those that run are stopped: the sum is above it by one request to the model for each of them at most.

--max-time among the flags of a task bounds its prompt or command, and its check, each.

Exits with 0 when all tasks succeeded, 8 when one did not, 6 when --max-cost stopped them, 10 when a result could not be kept.`

// Command is adze batch.
func Command(e *cmd.Env, p Program) *cobra.Command {
	r := runs{e, p}
	c := &cobra.Command{Use: "batch FILE [-- FLAGS]", Annotations: cmd.Anyone(), Short: "Run a file of tasks, each in its own clone", Long: long, Args: cmd.Takes(1, -1),
		Example: `  adze batch tasks.jsonl
  adze batch tasks.jsonl --jobs 8 --max-cost 20 -- --model PROVIDER/NAME --max-turns 60
  adze batch tasks.jsonl --retry provider,check
  adze batch tasks.jsonl --push --json | jq -r 'select(.ok | not) | .task'
  adze batch tasks.jsonl --on nats://localhost:4222        workers do it (adze worker)`,
		RunE: r.run}
	f := c.Flags()
	f.IntP("jobs", "j", 4, "how many tasks run at a time")
	f.String("out", "", "the `DIR` of results (default: FILE without its ending, and .batch)")
	f.String("keep", string(batch.KeepNone), "which clones to keep: none, failed or all")
	f.Float64("max-cost", 0, "most `USD` for all tasks together, where prices are known, earlier runs included")
	f.Bool("push", false, "push the branch that a task names when it succeeds; an existing branch is left alone")
	f.StringSlice("retry", nil, "repeat tasks whose result has one of these `CAUSES`, such as provider,check")
	f.String("listen", "", "serve /healthz and Prometheus' /metrics at this `ADDRESS`, such as localhost:9464")
	f.Bool("json", false, "print results as JSON lines")
	remoteFlags(c)
	return c
}

func (r runs) run(c *cobra.Command, words []string) error {
	if address, _ := c.Flags().GetString("listen"); address != "" {
		stop, err := r.Listen(address, nil)
		if err != nil {
			return err
		}
		defer stop()
	}
	b, err := r.settle(c, words)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	stop := signals.Watch(cancel, func(session.Cause) { os.Exit(130) }, nil)
	defer stop()
	on, err := r.batchServer(c)
	if err != nil {
		return err
	}
	if on != "" {
		return r.submit(ctx, c, b, on)
	}
	if at := r.remembered(b.Out); at.Batch != "" {
		return usage.Mistake("add --on "+at.On+", or name another folder with --out", "the tasks of %s were submitted as batch %s", b.Out, at.Batch)
	}
	view := newView(r.Err, r.Mask(), len(b.Tasks), r.live())
	asJSON := cmd.Flagged(c, "json")
	b.Watch = func(s batch.State) {
		view.take(s)
		if asJSON && s.Result != nil {
			if r.WriteJSON(*s.Result) != nil {
				cancel(session.ErrClosed)
			}
		}
	}
	report, err := b.Run(ctx)
	view.close()
	if !asJSON {
		r.summary(b, report)
	}
	return r.conclude(b, report, err, "results.jsonl has their causes; --retry CAUSE does them again")
}

// settle makes the batch of the command line.
func (r runs) settle(c *cobra.Command, words []string) (*batch.Batch, error) {
	at := c.ArgsLenAtDash()
	if at == 0 || at < 0 && len(words) > 1 || at > 1 {
		return nil, usage.Mistake("put flags for the tasks behind --, as in adze batch tasks.jsonl -- --model NAME", "adze batch takes one file")
	}
	b, err := r.Batch()
	if err != nil {
		return nil, err
	}
	b.Flags = words[1:]
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
	b.Retry = map[string]bool{}
	for _, cause := range causes {
		b.Retry[strings.TrimSpace(cause)] = true
	}
	out, _ := f.GetString("out")
	if b.Out, err = filepath.Abs(cmp.Or(out, strings.TrimSuffix(words[0], filepath.Ext(words[0]))+".batch")); err != nil {
		return nil, err
	}
	if out == "" && words[0] == "-" {
		return nil, usage.Mistake("add --out DIR", "tasks from stdin have no name that results could be kept under")
	}
	b.Tasks, err = r.tasks(words[0])
	return b, err
}

// tasks reads the file; all its mistakes are told at once.
func (r runs) tasks(name string) ([]batch.Task, error) {
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

// summary tells how many tasks came to what.
func (r runs) summary(b *batch.Batch, report batch.Report) {
	type row struct{ tasks, patches int }
	count := map[string]*row{}
	for _, res := range report.Results {
		if count[res.Cause] == nil {
			count[res.Cause] = &row{}
		}
		count[res.Cause].tasks++
		if res.Patch != "" {
			count[res.Cause].patches++
		}
	}
	table := r.Columns()
	fmt.Fprint(table, "cause\ttasks\tpatches\n")
	causes := make([]string, 0, len(count))
	for cause := range count {
		causes = append(causes, cause)
	}
	slices.SortFunc(causes, func(a, b string) int { return cmp.Or(count[b].tasks-count[a].tasks, strings.Compare(a, b)) })
	for _, cause := range causes {
		fmt.Fprintf(table, "%s\t%d\t%d\n", safeterm.Name(cause), count[cause].tasks, count[cause].patches)
	}
	if n := len(report.Waiting); n > 0 {
		fmt.Fprintf(table, "not finished\t%d\t\n", n)
	}
	_ = table.Flush() // of a reader that is gone: the results are in their file
	r.Show("results and patches: %s\n", safeterm.Name(b.Out))
	if report.Cost > 0 {
		r.Show("cost: $%.4f%s\n", report.Cost, unpriced(report.Unpriced))
	}
}

func unpriced(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", without %s whose cost is not known", plural.Of(n, "task"))
}

// conclude sets the exit code.
func (r runs) conclude(b *batch.Batch, report batch.Report, err error, retry string) error {
	failed := len(slices.DeleteFunc(slices.Clone(report.Results), func(res batch.Result) bool { return res.OK }))
	again := "run the same command again: it goes on with the " + plural.Of(len(report.Waiting), "task") + " left"
	switch {
	case errors.Is(err, batch.ErrMaxCost):
		r.Conclude(session.CauseBudget, fmt.Sprintf("%v: $%.2f of $%.2f; those that ran were stopped", err, report.Cost+report.Begun, b.MaxCost), "raise --max-cost, then "+again)
	case errors.Is(err, session.ErrInterrupted), errors.Is(err, session.ErrTerminated), errors.Is(err, session.ErrClosed):
		cause := session.Sort(err).Cause
		r.Conclude(cause, fmt.Sprintf("stopped (%s)", cause), again)
	case err != nil && len(report.Results) == 0 && len(report.Waiting) == 0:
		return usage.Mistake("nothing was begun; "+hint(err, "mend that, or name another folder with --out"), "%v", err)
	case err != nil:
		r.Conclude(session.CauseStore, err.Error(), hint(err, "mend what the message names")+", then "+again)
	case failed > 0:
		r.Conclude(session.CauseTool, fmt.Sprintf("%d of %d tasks did not succeed", failed, len(report.Results)), retry)
	}
	return nil
}
