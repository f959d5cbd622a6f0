package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

// onFlag adds the flag that names the server.
func onFlag(c *cobra.Command) {
	c.Flags().String("on", "", "the NATS server that has the runs, as nats://HOST:PORT (default: $ADZE_NATS)")
}

// onThisMachine is the value of --on with which a batch runs here although ADZE_NATS is set.
const onThisMachine = "here"

// remoteFlags are those of a batch that workers do.
func remoteFlags(c *cobra.Command) {
	f := c.Flags()
	f.String("on", "", "have workers do the tasks by this NATS server, nats://HOST:PORT; \"here\": this machine does them (default: $ADZE_NATS, or here)")
	f.Bool("detach", false, "with --on: submit and print the id of the batch; the same command without it follows")
	f.String("label", "", "with --on: the `LABEL` of tasks that have no label \"queue\" (default: default)")
	f.Int("priority", fleet.UsualPriority, "with --on: 1 comes first, 3 last, for tasks that have no label \"priority\" (p1, p2, p3)")
	f.Int("attempts", fleet.UsualAttempts, "with --on: how often a task is begun at most when workers are lost")
}

// where returns the address of --on. It is empty without the flag: the environment names the server
// then.
func (r runs) where(c *cobra.Command) string {
	on, _ := c.Flags().GetString("on")
	return on
}

// batchServer returns the address of the server that a batch is submitted to, of --on or else of
// ADZE_NATS. It is empty for a batch of this machine, for which flags that only workers obey are a
// mistake.
func (r runs) batchServer(c *cobra.Command) (string, error) {
	on := cmp.Or(r.where(c), r.Getenv("ADZE_NATS"))
	if on != "" && on != onThisMachine {
		return on, nil
	}
	for _, name := range []string{"detach", "label", "priority", "attempts"} {
		if c.Flags().Changed(name) {
			return "", usage.Mistake("add --on nats://HOST:PORT, or set ADZE_NATS", "--%s is of a batch that workers do, and no server is named", name)
		}
	}
	return "", nil
}

// elsewhere is where the tasks of a folder were submitted.
type elsewhere struct {
	On    string `json:"on"`
	Batch string `json:"batch"`
}

func (r runs) remembered(out string) (e elsewhere) {
	raw, err := os.ReadFile(filepath.Join(out, "fleet.json"))
	if err != nil || json.Unmarshal(raw, &e) != nil {
		return elsewhere{}
	}
	return e
}

// remember keeps where the tasks of a folder are submitted, unless that is known, and returns the
// id of their batch. Of two that submit the same folder at once both get the same id, with which
// nothing is submitted twice.
func (r runs) remember(out string, e elsewhere) (id string, err error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	whole, err := os.CreateTemp(out, ".fleet-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(whole.Name())
	_, err = whole.Write(append(raw, '\n'))
	if err = errors.Join(err, whole.Close()); err != nil {
		return "", err
	}
	err = os.Link(whole.Name(), filepath.Join(out, "fleet.json"))
	if known := r.remembered(out).Batch; errors.Is(err, fs.ErrExist) && known != "" {
		return known, nil
	}
	return e.Batch, err
}

// submit has workers do a batch, and follows it.
func (r runs) submit(ctx context.Context, c *cobra.Command, b *batch.Batch, on string) error {
	f := c.Flags()
	s := &fleet.Submission{Tasks: b.Tasks, RedactJSON: r.Mask().JSON}
	s.Flags, s.Push, s.MaxCost = b.Flags, b.Push, b.MaxCost
	s.Label, _ = f.GetString("label")
	s.Priority, _ = f.GetInt("priority")
	s.Attempts, _ = f.GetInt("attempts")
	s.Version = r.Version
	if s.Priority < 1 || s.Priority > 3 || s.Attempts < 1 {
		return usage.Mistake("--priority 1, 2 or 3; --attempts 1 or more", "--priority or --attempts is out of bounds")
	}
	if f.Changed("keep") || f.Changed("jobs") || f.Changed("retry") {
		return usage.Mistake("adze worker --jobs says how many run at a time, adze runs retry does tasks again", "--keep, --jobs and --retry are of a batch on this machine")
	}
	s.ID = r.remembered(b.Out).Batch
	if err := s.Prepare(time.Now()); err != nil {
		return usage.Mistake("mend it; nothing was submitted", "%v", err)
	}
	server, err := r.Fleet(ctx, on)
	if err != nil {
		return r.unreachable(err)
	}
	defer server.Close()
	if err := os.MkdirAll(b.Out, 0o700); err != nil {
		return err
	}
	if s.ID, err = r.remember(b.Out, elsewhere{on, s.ID}); err != nil {
		return err
	}
	if err := r.asSubmitted(ctx, server, s); err != nil {
		return r.stopped(err, "run the same command again: what was submitted is not submitted twice")
	}
	if err := server.Submit(ctx, s); err != nil {
		return r.stopped(err, "run the same command again: what was submitted is not submitted twice")
	}
	if err := r.sayUnattended(ctx, server, s.ID); err != nil {
		return r.stopped(err, "run the same command again: what was submitted is not submitted twice")
	}
	if cmd.Flagged(c, "detach") {
		fmt.Fprintln(r.Out, s.ID)
		return nil
	}
	fmt.Fprintf(r.Err, "batch %s: %s on %s; adze runs follow %s\n", s.ID, plural.Of(len(s.Tasks), "task"), safeterm.Name(server.Name), s.ID)
	return r.collect(ctx, c, b, server, s.ID)
}

// asSubmitted looks whether a batch that was submitted before is to be done as it was submitted.
// Another limit of its cost holds from now on.
func (r runs) asSubmitted(ctx context.Context, server *Fleet, s *fleet.Submission) error {
	there, err := server.Order(ctx, s.ID)
	if errors.Is(err, fleet.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	if !slices.Equal(there.Flags, s.Flags) || there.Push != s.Push || there.Attempts != s.Attempts {
		return usage.Mistake("run it as it was submitted, or name another folder with --out for a new batch",
			"batch %s was submitted with other flags: --push=%t --attempts %d -- %s", s.ID, there.Push, there.Attempts, strings.Join(there.Flags, " "))
	}
	if s.MaxCost == there.MaxCost || s.MaxCost == 0 {
		return nil
	}
	fmt.Fprintf(r.Err, "batch %s may cost $%.2f from now on; adze runs retry %s --cause budget does again what had no money left\n", s.ID, s.MaxCost, s.ID)
	return server.Raise(ctx, s.ID, s.MaxCost)
}

// collect follows a batch until all is over, and keeps what comes of it in its folder.
func (r runs) collect(ctx context.Context, c *cobra.Command, b *batch.Batch, server *Fleet, id string) error {
	folder, err := b.Collect()
	if err != nil {
		return err
	}
	defer folder.Close()
	asJSON := cmd.Flagged(c, "json")
	view := newView(r.Err, r.Mask(), len(b.Tasks), r.live())
	err = server.Follow(ctx, id, len(b.Tasks), func(run fleet.Run) error {
		if !run.State.Over() {
			view.follow(run)
			return nil
		}
		res := run.Outcome()
		news, err := folder.Add(res, func(w io.Writer) error { return server.Patch(ctx, run, w) })
		if err != nil {
			return err
		}
		view.take(batch.State{Task: batch.Task{ID: run.Task, Repo: run.Source}, Stage: batch.Finished, Result: &res})
		if news && asJSON {
			return r.WriteJSON(res)
		}
		return nil
	})
	view.close()
	report := folder.Report()
	if !asJSON {
		r.summary(b, report)
	}
	if errors.Is(err, session.ErrInterrupted) || errors.Is(err, session.ErrTerminated) {
		cause := session.Sort(err).Cause
		r.Conclude(cause, fmt.Sprintf("stopped following (%s); the tasks go on", cause), "run the same command again to follow, or adze runs cancel "+id)
		return nil
	}
	if err != nil {
		return r.stopped(err, "run the same command again: it goes on with what is missing")
	}
	return r.conclude(b, report, nil, "results.jsonl has their causes; adze runs retry "+id+" does them again, the same command follows")
}

// stopped tells of an error of the server or of the disk.
func (r runs) stopped(err error, next string) error {
	var wrong *usage.Error
	if errors.As(err, &wrong) {
		return err
	}
	r.Conclude(session.CauseStore, err.Error(), hint(err, next))
	return nil
}

// hint returns the next move after an error: what fits its cause, or else what the caller says.
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

// unreachable tells why there is no server.
func (r runs) unreachable(err error) error {
	return r.stopped(err, "name another server with --on")
}

// follow shows a run that is not over.
func (v *view) follow(r fleet.Run) {
	if r.State == fleet.Waiting {
		v.gone(r.Task)
		return
	}
	v.take(batch.State{Task: batch.Task{ID: r.Task, Repo: r.Source}, Stage: cmp.Or(r.Stage, batch.Fetching), Doing: r.Doing, Turns: r.Turns, Calls: r.Calls, Cost: r.Cost, Resumed: r.Attempts+r.Lost > 1})
}

// gone takes a row away.
func (v *view) gone(task string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range v.rows {
		if v.rows[i].Task.ID == task {
			v.rows = append(v.rows[:i], v.rows[i+1:]...)
			if v.live {
				v.soon()
			}
			return
		}
	}
}

// clip is foreign text for a cell of a table.
func clip(text string, most int) string {
	text = safeterm.Name(strings.ReplaceAll(text, "\n", " ")).String()
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
