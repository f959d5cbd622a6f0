package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	cli "adze/internal/cmd"
	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/run/signals"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/plural"
	"adze/internal/text/usage"
	"adze/session"
)

// Fleet is a server that is connected.
type Fleet struct {
	fleet.Cluster
	Name       string // of the server, for a user
	Durability string // what could be proven of it; if empty, nothing is to be told
	Close      func()
	Sessions   []string // flags with which adze session finds those of runs
	// Logs opens the sessions that the server keeps, until end.
	Logs func(context.Context) (logs retention.Logs, end func(), err error)
	// Rules say how long the server keeps what is over.
	Rules retention.Rules
}

// ListCommand is adze runs.
func ListCommand(e *cli.Env, p Program) *cobra.Command {
	r := runs{e, p}
	list := &cobra.Command{Use: "list [BATCH]", Annotations: cli.Anyone(), Short: "List batches, or the runs of one", Args: cli.Takes(0, 1), RunE: r.with(r.list)}
	show := &cobra.Command{Use: "show ID", Annotations: cli.Anyone(), Short: "Show a run, or its patch", Args: cli.Takes(1, 1), RunE: r.with(r.show)}
	show.Flags().Bool("patch", false, "print the patch and nothing else")
	follow := &cobra.Command{Use: "follow BATCH", Annotations: cli.Anyone(), Short: "Show how a batch goes on until it is over", Long: followLong, Args: cli.Takes(1, 1), RunE: r.with(r.watch)}
	stop := &cobra.Command{Use: "cancel ID…", Annotations: cli.Anyone(), Short: "Stop runs or whole batches, wherever they are", Args: cli.Takes(1, -1), RunE: r.with(r.cancel)}
	again := &cobra.Command{Use: "retry ID…", Annotations: cli.Anyone(), Short: "Do runs again that did not succeed, in a new clone and session", Args: cli.Takes(1, -1), RunE: r.with(r.retry)}
	again.Flags().StringSlice("cause", nil, "only those with one of these `CAUSES`, such as provider,dead")
	again.Flags().Float64("max-cost", 0, "raise what the batch may cost to so many `USD`")
	stats := &cobra.Command{Use: "stats [BATCH]", Annotations: cli.Anyone(), Short: "Count runs by state and cause, and what waits in the queue", Args: cli.Takes(0, 1), RunE: r.with(r.stats)}
	limit := &cobra.Command{Use: "limit LABEL N", Annotations: cli.Anyone(), Short: "Bound how many tasks of a label and priority run at a time; 0: any number", Args: cli.Takes(2, 2), RunE: r.with(r.limit)}
	workers := &cobra.Command{Use: "workers", Annotations: cli.Anyone(), Short: "List the workers that are there", Args: cli.Takes(0, 0), RunE: r.with(r.workers)}
	remove := &cobra.Command{Use: "delete BATCH…", Short: "Permanently remove batches that are over, with their sessions and patches", Long: deleteLong, Args: cli.Takes(0, -1), RunE: r.with(r.delete)}
	remove.Flags().BoolP("yes", "y", false, "do not ask")
	remove.Flags().Bool("expired", false, "what batch.keep_days of the configuration lets go: batches, sessions and contents")
	all := []*cobra.Command{list, show, follow, stop, again, stats, limit, workers, remove}
	for _, c := range all {
		onFlag(c)
		c.ValidArgsFunction = r.ids
		c.Example = runExamples[c.Name()]
	}
	limit.ValidArgsFunction, workers.ValidArgsFunction = cobra.NoFileCompletions, cobra.NoFileCompletions
	for _, c := range []*cobra.Command{list, show, follow, stats, workers} {
		c.Flags().Bool("json", false, "print JSON lines")
	}
	return cli.Group("runs", "Show, stop and repeat batches of workers (--on nats://…)", all...)
}

const deleteLong = `Permanently remove batches that are over: their records, the prompts in them, the sessions of their runs and what these kept apart.
One that waits or runs is not removed; adze runs cancel ends it. Workers remove by themselves what is over for longer than
batch.keep_days of their configuration (30 days where it says nothing), and sessions that nobody used for as long.
The server must let the user purge streams, as it does the owner of deploy/nats.conf.`

const followLong = `Show how a batch goes on until it is over.

Exits with 0 when all tasks succeeded, 8 when one did not (it failed, was cancelled or is dead), 10 when the server did not answer,
130 when it was stopped before the end; the tasks go on then.`

// runExamples are shown by the help of the commands of that name; the server is the one of
// ADZE_NATS.
var runExamples = map[string]string{
	"list":   "  adze runs list\n  adze runs list k3wq7d --json | jq -r 'select(.state == \"dead\").id'",
	"show":   "  adze runs show k3wq7d.b2xs\n  adze runs show k3wq7d.b2xs --patch | git apply --index",
	"follow": "  adze runs follow k3wq7d\n  adze runs follow k3wq7d --on nats://queue:4222 --json",
	"cancel": "  adze runs cancel k3wq7d\n  adze runs cancel k3wq7d.b2xs k3wq7d.h8mv",
	"retry":  "  adze runs retry k3wq7d --cause provider,dead\n  adze runs retry k3wq7d.b2xs --max-cost 20",
	"stats":  "  adze runs stats\n  adze runs stats k3wq7d --json",
	"delete": "  adze runs delete k3wq7d\n  adze runs delete --expired",
	"limit":  "  adze runs limit core 2\n  adze runs limit core 0",

	"workers": "  adze runs workers\n  adze runs workers --json | jq -r .name",
}

// asked is a command with the server and what the words mean.
type asked struct {
	context.Context
	cmd *cobra.Command
	*Fleet
	words []string
}

// with connects, and ends what is asked with Ctrl-C.
func (r runs) with(do func(asked) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, words []string) error {
		ctx, cancel := context.WithCancelCause(c.Context())
		defer cancel(nil)
		stop := signals.Watch(cancel, func(session.Cause) { os.Exit(130) }, nil)
		defer stop()
		server, err := r.Fleet(ctx, r.where(c))
		if err != nil {
			return r.unreachable(err)
		}
		defer server.Close()
		err = do(asked{Context: ctx, cmd: c, Fleet: server, words: words})
		switch {
		case errors.Is(err, fleet.ErrNone), errors.Is(err, fleet.ErrMany):
			return usage.Mistake("adze runs list shows batches, adze runs list BATCH its runs", "%v", err)
		case errors.Is(err, session.ErrInterrupted), errors.Is(err, session.ErrTerminated):
			r.Conclude(session.Sort(err).Cause, "", "")
			return nil
		case err != nil:
			return r.stopped(err, "try again when the server answers")
		}
		return nil
	}
}

// ids completes batches and runs.
func (r runs) ids(c *cobra.Command, _ []string, begin string) (out []string, _ cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	server, err := r.Fleet(ctx, r.where(c))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer server.Close()
	orders, _ := server.Orders(ctx) // without an answer there is nothing to offer
	for _, o := range orders {
		out = append(out, fmt.Sprintf("%s\t%s, %s", o.ID, plural.Of(o.Tasks, "task"), o.Created.Local().Format(time.DateTime)))
	}
	if of, _, dotted := strings.Cut(begin, "."); dotted && c.Name() != "follow" {
		list, _ := server.List(ctx, of)
		for _, run := range list {
			out = append(out, run.ID+"\t"+clip(run.Task+" "+run.Source, 60))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return !strings.HasPrefix(s, begin) }), cobra.ShellCompDirectiveNoFileComp
}

func (r runs) list(a asked) error {
	if len(a.words) == 1 {
		runs, err := a.Find(a, a.words[0])
		if err != nil {
			return err
		}
		return r.table(a, runs)
	}
	orders, err := a.Orders(a)
	if err != nil {
		return err
	}
	slices.SortFunc(orders, func(x, y fleet.Order) int { return y.Created.Compare(x.Created) })
	if cli.Flagged(a.cmd, "json") {
		for _, o := range orders {
			if err := r.WriteJSON(o); err != nil {
				return err
			}
		}
		return nil
	}
	if len(orders) == 0 {
		fmt.Fprintln(r.Err, "no batch was submitted to this server")
		return nil
	}
	t := r.Columns()
	fmt.Fprint(t, "batch\ttasks\tsubmitted\tmost cost\n")
	for _, o := range orders {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", o.ID, o.Tasks, o.Created.Local().Format(time.DateTime), dollars(o.MaxCost))
	}
	return t.Flush()
}

func dollars(usd float64) string {
	if usd == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", usd)
}

func (r runs) table(a asked, all []fleet.Run) error {
	if cli.Flagged(a.cmd, "json") {
		for _, run := range all {
			if err := r.WriteJSON(run); err != nil {
				return err
			}
		}
		return nil
	}
	t := r.Columns()
	fmt.Fprint(t, "id\ttask\tstate\tcause\ttries\tworker\tsource\n")
	for _, run := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", run.ID, clip(run.Task, 24), run.State, clip(why(run), 40), run.Attempts, clip(run.Worker, 24), clip(run.Source, 48))
	}
	return t.Flush()
}

// why is what a run came to, or what it does.
func why(run fleet.Run) string {
	if run.Result != nil {
		return run.Result.Cause
	}
	return cmp.Or(run.Reason, run.Doing, string(run.Stage))
}

func (r runs) show(a asked) error {
	found, err := a.Find(a, a.words[0])
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return usage.Mistake("adze runs list "+a.words[0], "%s is a batch; name one of its runs", a.words[0])
	}
	run := found[0]
	if cli.Flagged(a.cmd, "patch") {
		return a.Patch(a, run, r.Out)
	}
	if run.Work.Task == nil {
		task, err := a.Task(a, run)
		if err != nil {
			return err
		}
		if raw, err := json.Marshal(task); err == nil { // a long one is kept as it was written
			_ = json.Unmarshal(r.Mask().JSON(raw), &task)
		}
		run.Work = fleet.Work{Task: &task}
	}
	if cli.Flagged(a.cmd, "json") {
		return r.WriteJSON(run)
	}
	t := r.Columns()
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(t, "%s\t%s\n", name, clip(text, 200))
		}
	}
	line("run", run.ID)
	line("task", run.Task)
	line("source", run.Source+" "+run.Work.Task.Ref)
	line("asked", cmp.Or(run.Work.Task.Prompt, run.Work.Task.Command))
	line("state", fmt.Sprintf("%s, round %d, attempt %d", run.State, run.Round, run.Attempts))
	line("worker", run.Worker)
	line("why", cmp.Or(run.Reason, run.Doing))
	if res := run.Result; res != nil {
		line("cause", res.Cause)
		line("message", res.Message)
		line("answer", res.Text)
		line("base", res.Base)
		line("changed", plural.Of(res.Changed, "file"))
		line("pushed", strings.TrimSpace(res.Branch+" "+res.Pushed))
	}
	if run.Cost != nil {
		line("cost", fmt.Sprintf("$%.4f", *run.Cost))
	}
	if run.Patch != "" {
		line("patch", "adze runs show "+run.ID+" --patch")
	}
	if run.Session != "" && run.Work.Task.Prompt != "" {
		line("log", strings.Join(append([]string{"adze sessions show", run.Session}, a.Sessions...), " "))
	}
	return t.Flush()
}

func (r runs) watch(a asked) error {
	o, err := a.Order(a, a.words[0])
	if err != nil {
		return err
	}
	asJSON := cli.Flagged(a.cmd, "json")
	if err := r.sayUnattended(a, a.Fleet, o.ID); err != nil {
		return err
	}
	view := newView(r.Err, r.Mask(), o.Tasks, r.live())
	failed := map[string]bool{} // by run, of its last round
	err = a.Follow(a, o.ID, o.Tasks, func(run fleet.Run) error {
		res := run.Outcome()
		if failed[run.ID] = run.State.Over() && !res.OK; !failed[run.ID] {
			delete(failed, run.ID)
		}
		if asJSON {
			return r.WriteJSON(run)
		}
		if run.State.Over() {
			view.take(batch.State{Task: batch.Task{ID: run.Task, Repo: run.Source}, Stage: batch.Finished, Result: &res})
			return nil
		}
		view.follow(run)
		return nil
	})
	view.close()
	if n := len(failed); err == nil && n > 0 {
		r.Conclude(session.CauseTool, fmt.Sprintf("%d of %d tasks did not succeed", n, o.Tasks), "adze runs list "+o.ID+" has their causes; adze runs retry "+o.ID+" does them again")
	}
	return err
}

// live says whether standard error is a terminal.
func (r runs) live() bool {
	f, ok := r.Err.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}
