package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/osfile/atomicfile"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

// place is fleet.json, which names the server and batch for a folder.
type place struct {
	Host  string `json:"on"`
	Batch string `json:"batch"`
}

func submitted(out string) (p place) {
	raw, err := os.ReadFile(filepath.Join(out, "fleet.json"))
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return place{}
	}
	return p
}

// submit runs a batch on workers and follows it. With --retry, the tasks with these causes become a
// new batch.
func (r command) submit(ctx context.Context, c *cobra.Command, b *batch.Batch, on string) error {
	f := c.Flags()
	for name, instead := range map[string]string{"keep": "clones stay on no worker", "max-cost": "bound each task: adze batch FILE --on … -- --max-cost USD"} {
		if f.Changed(name) {
			return usage.Mistake(instead, "--%s is of a batch on this machine", name)
		}
	}
	unlock, err := b.Open()
	if err != nil {
		return usage.Mistake(hint(err, "name another folder with --out"), "%v", err)
	}
	defer unlock()
	s := &fleet.Submission{Tasks: b.Tasks, Order: fleet.Order{ID: submitted(b.OutputDir).Batch, Flags: b.Flags, Push: b.Push}}
	s.Label, _ = f.GetString("label")
	s.Priority, _ = f.GetInt("priority")
	s.Attempts, _ = f.GetInt("attempts")
	if f.Changed("jobs") {
		s.Jobs = b.Jobs
	}
	if s.Attempts < 1 {
		return usage.Mistake("--attempts 1 or more", "--attempts is out of bounds")
	}
	var again []batch.Task
	for _, t := range b.Tasks {
		if res, done := b.Journal().Last(t.ID); done && b.Retry[res.Cause] {
			again = append(again, t)
		}
	}
	if len(again) > 0 {
		if left := len(b.Report(nil).Waiting); left > 0 {
			return usage.Mistake("run the same command without --retry first: it follows them", "%s of batch %s have no result yet", plural.Of(left, "task"), s.ID)
		}
		s.ID, s.Tasks = "", again
	}
	if err := s.Prepare(); err != nil {
		return usage.Mistake("mend it; nothing was submitted", "%v", err)
	}
	server, err := r.Server(ctx, on)
	if err != nil {
		return r.failed(err, "name another server with --on")
	}
	defer server.Close()
	raw, err := json.Marshal(place{on, s.ID})
	if err == nil {
		err = atomicfile.Write(filepath.Join(b.OutputDir, "fleet.json"), raw)
	}
	if err == nil {
		err = server.Submit(ctx, s)
	}
	if err == nil {
		err = r.tellUnattended(ctx, server, s.ID)
	}
	if err != nil {
		return r.failed(err, "run the same command again: what was submitted is not submitted twice")
	}
	if cmd.Flagged(c, "detach") {
		fmt.Fprintln(r.Out, s.ID)
		return nil
	}
	fmt.Fprintf(r.Err, "batch %s: %s on %s; adze batch follow %s\n", s.ID, plural.Of(len(s.Tasks), "task"), safeterm.Name(on), s.ID)
	return r.collect(ctx, c, b, server, s)
}

// collect follows a batch and stores its results in its folder.
func (r command) collect(ctx context.Context, c *cobra.Command, b *batch.Batch, server *fleet.Server, s *fleet.Submission) error {
	view := r.newView(len(s.Tasks))
	err := server.Follow(ctx, s.Order, view.read, func(res fleet.Stored) error {
		view.take(batch.State{Task: batch.Task{ID: res.Task}, Stage: batch.Finished, Result: &res.Result})
		if last, there := b.Journal().Last(res.Task); there && last.Ended.Equal(res.Ended) {
			return nil
		}
		path := filepath.Join("patches", res.Task+".patch")
		if err := os.Remove(filepath.Join(b.OutputDir, path)); err != nil && !errors.Is(err, os.ErrNotExist) { // from an earlier attempt
			return err
		}
		if res.PatchFile != "" {
			w, err := os.OpenFile(filepath.Join(b.OutputDir, path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
			if err != nil {
				return err
			}
			if err := errors.Join(server.File(ctx, res.PatchFile, w), w.Sync(), w.Close()); err != nil {
				return fmt.Errorf("the patch of %s: %w", res.Task, err)
			}
			res.Patch = path
		}
		if err := b.Journal().Add(res.Result); err != nil || !cmd.Flagged(c, "json") {
			return err
		}
		return r.WriteJSON(res.Result)
	})
	view.wipe()
	report := b.Report(nil)
	if !cmd.Flagged(c, "json") {
		r.summary(b, report)
	}
	if errors.Is(err, session.ErrInterrupted) || errors.Is(err, session.ErrTerminated) {
		cause := session.Sort(err).Cause
		r.Conclude(cause, fmt.Sprintf("stopped following (%s); the tasks go on", cause), "run the same command again to follow, or adze batch cancel "+s.ID)
		return nil
	}
	if err != nil {
		return r.failed(err, "run the same command again: it goes on with what is missing")
	}
	return r.conclude(b, report, nil)
}

// failed reports an error from the server or the disk.
func (r command) failed(err error, next string) error {
	var wrong *usage.Error
	switch {
	case errors.As(err, &wrong):
		return err
	case errors.Is(err, session.ErrInterrupted), errors.Is(err, session.ErrTerminated):
		r.Conclude(session.Sort(err).Cause, "", "")
	case errors.Is(err, fleet.ErrNone):
		return usage.Mistake("adze batch list shows batches, adze batch list BATCH their tasks", "%v", err)
	default:
		r.Conclude(session.CauseStore, err.Error(), hint(err, next))
	}
	return nil
}

func (r command) tellUnattended(ctx context.Context, server *fleet.Server, id string) error {
	labels, err := server.Unattended(ctx, id)
	for _, label := range labels {
		fmt.Fprintf(r.Err, "no worker takes tasks of the label %s now; start one: adze batch worker --on %s\n", label, safeterm.Name(server.URL()))
	}
	return err
}

type statusCommand struct {
	context.Context
	*fleet.Server
	cmd   *cobra.Command
	words []string
}

func (r command) lookCommands() []*cobra.Command {
	on := func(use, short, example string, least, most int, do func(statusCommand) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Example: example, Annotations: cmd.CallableByTools(), Args: cmd.RangeArgs(least, most), ValidArgsFunction: cobra.NoFileCompletions,
			RunE: func(c *cobra.Command, words []string) error {
				ctx, _, stop := signalled(c)
				defer stop()
				address, _ := c.Flags().GetString("on")
				server, err := r.Server(ctx, address)
				if err != nil {
					return r.failed(err, "name another server with --on")
				}
				defer server.Close()
				if err := do(statusCommand{ctx, server, c, words}); err != nil {
					return r.failed(err, "try again when the server answers")
				}
				return nil
			}}
		c.Flags().String("on", "", "the NATS server, nats://HOST:PORT (default: $ADZE_NATS)")
		return c
	}
	list := on("list [BATCH]", "List batches of workers, or the results of one", "  adze batch list\n  adze batch list k3wq7dab --json | jq -r 'select(.ok | not).task'", 0, 1, r.list)
	show := on("show BATCH TASK", "Show a result, its patch or its session", "  adze batch show k3wq7dab a --patch | git apply --index\n  adze batch show k3wq7dab a --session | adze sessions import -", 2, 2, r.show)
	follow := on("follow BATCH", "Show how a batch goes on until it is over", "  adze batch follow k3wq7dab --json", 1, 1, r.follow)
	workers := on("workers", "List the workers that are there", "  adze batch workers --json | jq -r .name", 0, 0, r.workers)
	stop := on("cancel BATCH…", "Stop batches, wherever their tasks are", "  adze batch cancel k3wq7dab", 1, -1, func(a statusCommand) error {
		for _, id := range a.words {
			if err := a.Cancel(a, id); err != nil {
				return err
			}
			r.Show("batch %s is cancelled\n", safeterm.Name(id))
		}
		return nil
	})
	remove := on("delete BATCH…", "Remove batches that are over from the server, with their results, patches and sessions", "  adze batch delete k3wq7dab", 1, -1, func(a statusCommand) error {
		for _, id := range a.words {
			if err := a.Delete(a, id); errors.Is(err, fleet.ErrOpen) {
				return usage.Mistake("adze batch cancel "+id+" first", "%v", err)
			} else if err != nil {
				return err
			}
			r.Show("batch %s is removed\n", safeterm.Name(id))
		}
		return nil
	})
	remove.Annotations = nil // reserved for the user
	remove.Flags().BoolP("yes", "y", false, "")
	_ = remove.Flags().MarkHidden("yes") // it exists; there is no question any more
	show.Flags().Bool("patch", false, "print the patch and nothing else")
	show.Flags().Bool("session", false, "print the session as JSON, as adze sessions import takes it")
	for _, c := range []*cobra.Command{list, show, follow, workers} {
		c.Flags().Bool("json", false, "print JSON lines")
	}
	return []*cobra.Command{list, show, follow, stop, workers, remove}
}

// lines prints values as JSON lines if requested.
func lines[T any](r command, a statusCommand, all []T) (did bool, err error) {
	if !cmd.Flagged(a.cmd, "json") {
		return false, nil
	}
	for _, v := range all {
		if err := r.WriteJSON(v); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (r command) list(a statusCommand) error {
	if len(a.words) == 1 {
		return r.results(a, a.words[0])
	}
	batches, err := a.Batches(a)
	if err != nil {
		return err
	}
	if did, err := lines(r, a, batches); did || len(batches) == 0 {
		if !did {
			fmt.Fprintln(r.Err, "no batch was submitted to this server")
		}
		return err
	}
	lanes, err := a.Lanes(a, "")
	if err != nil {
		return err
	}
	t := r.Columns()
	fmt.Fprint(t, "batch\ttasks\twaiting\trunning\tsubmitted\n")
	for _, o := range batches {
		waiting, running := 0, 0
		for _, l := range lanes {
			if l.Batch() == o.ID {
				waiting, running = waiting+l.Waiting, running+l.Running
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", o.ID, o.Tasks, waiting, running, o.Created.Local().Format(time.DateTime))
	}
	return t.Flush()
}

func (r command) results(a statusCommand, id string) error {
	o, err := a.Batch(a, id)
	if err != nil {
		return err
	}
	results, err := a.Results(a, id)
	if err != nil {
		return err
	}
	if did, err := lines(r, a, results); did {
		return err
	}
	t := r.Columns()
	fmt.Fprint(t, "task\tcause\tworker\tsource\tmessage\n")
	for _, s := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", clip(s.Task, 24), clip(s.Cause, 16), clip(s.Worker, 24), clip(s.Repo+s.Folder, 48), clip(s.Message, 60))
	}
	if n := o.Tasks - len(results); n > 0 {
		fmt.Fprintf(t, "%s without a result\t\t\t\t\n", plural.Of(n, "task"))
	}
	return t.Flush()
}

func (r command) show(a statusCommand) error {
	results, err := a.Results(a, a.words[0])
	if err != nil {
		return err
	}
	for _, s := range results {
		switch {
		case s.Task != a.words[1]:
		case cmd.Flagged(a.cmd, "patch") && s.PatchFile == "", cmd.Flagged(a.cmd, "session") && s.SessionFile == "":
			return usage.Mistake("adze batch show "+s.Task+" says what it has", "%s has no such file", s.Task)
		case cmd.Flagged(a.cmd, "patch"):
			return a.File(a, s.PatchFile, r.Out)
		case cmd.Flagged(a.cmd, "session"):
			return a.File(a, s.SessionFile, r.Out)
		default:
			return r.WriteJSON(s)
		}
		if s.Task == a.words[1] {
			return nil
		}
	}
	return fmt.Errorf("%w: %q of %s", fleet.ErrNone, a.words[1], a.words[0])
}

func (r command) follow(a statusCommand) error {
	o, err := a.Batch(a, a.words[0])
	if err == nil {
		err = r.tellUnattended(a, a.Server, o.ID)
	}
	if err != nil {
		return err
	}
	view := r.newView(o.Tasks)
	err = a.Follow(a, o, view.read, func(s fleet.Stored) error {
		view.take(batch.State{Task: batch.Task{ID: s.Task}, Stage: batch.Finished, Result: &s.Result})
		if cmd.Flagged(a.cmd, "json") {
			return r.WriteJSON(s)
		}
		return nil
	})
	view.wipe()
	if n := view.failed + o.Tasks - view.over; err == nil && n > 0 {
		r.Conclude(session.CauseTool, fmt.Sprintf("%d of %d tasks did not succeed", n, o.Tasks), "adze batch list "+o.ID+" has their causes")
	}
	return err
}

func (r command) workers(a statusCommand) error {
	there, err := a.Workers(a)
	if err != nil {
		return err
	}
	if did, err := lines(r, a, there); did || len(there) == 0 {
		if !did {
			fmt.Fprintf(r.Err, "no worker is there; start one: adze batch worker --on %s\n", safeterm.Name(a.URL()))
		}
		return err
	}
	t := r.Columns()
	fmt.Fprint(t, "worker\tversion\tlabels\truns\tof\tseen\n")
	for _, w := range there {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%s ago\n", clip(w.Name, 32), clip(w.Version, 16), clip(cmp.Or(strings.Join(w.Labels, ","), "all"), 32), len(w.Running), w.Jobs, time.Since(w.LastSeen).Round(time.Second))
	}
	return t.Flush()
}
