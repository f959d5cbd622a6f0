package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/fleet"
	"adze/internal/run/signals"
	"adze/internal/sessiondb/retention"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

const workerLong = `Take tasks from a NATS server and do them, each in a clone of its own by an adze of its own, until it is told to stop. Any number of
workers on any number of machines work together. Keys, credentials of git and the configuration are those of this machine: a task
carries none.

A batch comes from others, so the owner says what it may ask for: by the flags --allow-…, and by "worker" in the file of the machine's
owner, beyond which no flag goes. Without them a task runs in mode auto or a stricter one, in the sandbox, on a repository of another
machine. What is not admitted ends with the cause "denied" and the reason.

Tasks run in mode auto, which refuses what the sandbox cannot hold. So a worker does not start where the sandbox is below the level
full, and says what helps; --sandbox-level takes a lower one, and a task with the flag --sandbox required goes to workers that are full.

On SIGTERM or Ctrl-C it takes no more tasks and lets those that run come to their end for --grace; what is left then, or at the
second signal, is given back, and another worker goes on with it.

A worker that finds no server when it starts says so and waits for one until it is told to stop; one that is refused, or whose address or
credentials cannot be used, ends.

A task waits for a worker of a newer version when this one does not know a field or flag of it; adze runs workers names it.

A worker that cannot reach a server for two thirds of its lease of 15 s ends what it does, for after all of it another one goes on.
It is no attempt when no server answered and nobody had gone on by then. ADZE_NATS_LEASE is another time, from 3s on, for who submits and for all workers alike: a shorter one goes on
sooner, and is lost while three servers choose who leads, which takes 2 to 7 s.`

// WorkerCommand is adze worker.
func WorkerCommand(e *cmd.Env, p Program) *cobra.Command {
	r := runs{e, p}
	c := &cobra.Command{Use: "worker", Annotations: cmd.Anyone(), Short: "Run tasks of batches from a NATS server", Long: workerLong, Args: cmd.Takes(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Example: `  adze worker --on nats://localhost:4222 --jobs 4
  ADZE_NATS=tls://queue.example:4222 ADZE_NATS_TOKEN_FILE=/run/secrets/nats adze worker --label core`,
		RunE: r.worker}
	onFlag(c)
	f := c.Flags()
	f.IntP("jobs", "j", 2, "how many tasks run at a time")
	f.StringSlice("label", nil, "take only tasks with one of these `LABELS` (default: all)")
	f.Duration("grace", 25*time.Second, "how long tasks may go on after SIGTERM")
	f.String("listen", "", "answer for /healthz, /readyz and Prometheus' /metrics at this `ADDRESS`, such as localhost:9464")
	f.String("dir", "", "where clones are made while tasks run (default: adze/workers in the cache folder)")
	f.StringSlice("allow-mode", nil, "let tasks run in this permission `MODE`, too (yolo); plan, ask, edits and auto are always admitted")
	f.Bool("allow-sandbox-off", false, "let tasks run commands outside the sandbox (--sandbox off)")
	f.String("sandbox-level", "", "start only where the sandbox reaches this `LEVEL`: full, degraded or none (default: full, or none with --allow-sandbox-off)")
	f.StringSlice("allow-folder", nil, "let tasks have their files, or a repository that is a path, at or below this `DIR` of this machine")
	f.StringSlice("allow-repository", nil, "take only tasks whose repository matches this `PATTERN`, such as 'https://host/team/*' (default: every address of another machine)")
	f.StringArray("allow-rule", nil, "let tasks bring this `RULE` with --allow, such as 'network(docs.example)'; it must be the same, word for word")
	f.String("name", "", "the worker's name in lists (default: host and process)")
	return c
}

func (r runs) worker(c *cobra.Command, _ []string) error {
	jobs, _ := c.Flags().GetInt("jobs")
	grace, _ := c.Flags().GetDuration("grace")
	labels, _ := c.Flags().GetStringSlice("label")
	if jobs < 1 || grace < 0 {
		return usage.Mistake("one job at least", "--jobs or --grace is too small")
	}
	for _, l := range labels {
		if !fleet.SoundLabel(l) {
			return usage.Mistake("small letters, digits and -", "--label %q is not a label", l)
		}
	}
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	var now atomic.Pointer[fleet.Worker]
	var pressed atomic.Int32
	stop := signals.Watch(cancel, func(session.Cause) {
		w := now.Load()
		if w == nil || pressed.Add(1) > 1 {
			os.Exit(130)
		}
		w.GiveBack()
	}, nil)
	defer stop()
	var connected atomic.Pointer[Fleet]
	if address, _ := c.Flags().GetString("listen"); address != "" {
		unlisten, err := r.Listen(address, func() error { return ready(ctx, connected.Load()) })
		if err != nil {
			return err
		}
		defer unlisten()
	}
	server, err := r.await(ctx, r.where(c))
	if ctx.Err() != nil && server == nil {
		return nil // it was told to stop, and has nothing to give back
	}
	if err != nil {
		return r.unreachable(err)
	}
	defer server.Close()
	connected.Store(server)
	dir, _ := c.Flags().GetString("dir")
	admits := admission(c)
	level, _ := c.Flags().GetString("sandbox-level")
	if level == "" && admits.SandboxOff {
		level = "none"
	}
	w, done, err := r.Worker(server, dir, level, admits)
	if err != nil {
		return err
	}
	defer done()
	w.Jobs, w.Grace, w.Labels = jobs, grace, labels
	if name, _ := c.Flags().GetString("name"); name != "" {
		w.Name = name
	}
	w.Tell = r.saying(w.Tell)
	now.Store(w)
	keeping, stopKeeping := context.WithCancel(ctx)
	defer stopKeeping()
	go server.Keep(keeping, func(ctx context.Context) error { return r.expire(ctx, server) }, func(err error) {
		r.say(fleet.Event{Kind: "what is over for long stays", Why: err.Error()})
	})
	fmt.Fprintf(r.Err, "worker %s takes tasks from %s, %d at a time\n", safeterm.Name(w.Name), server.Name, jobs)
	if server.Durability != "" {
		fmt.Fprintf(r.Err, "%s\n", safeterm.Name(server.Durability))
	}
	return w.Run(ctx)
}

// expire lets go what the server has kept for long enough.
func (r runs) expire(ctx context.Context, server *Fleet) error {
	logs, end, err := server.Logs(ctx)
	if err != nil {
		return err
	}
	defer end()
	gone, err := retention.Server{Runs: server.Cluster, Logs: logs}.Expire(ctx, server.Rules, time.Now())
	if n := len(gone.Batches) + len(gone.Sessions) + gone.Contents; n > 0 {
		r.say(fleet.Event{Kind: "let go", Why: fmt.Sprintf("%s, %s and %s", plural.Of(len(gone.Batches), "batch"), plural.Of(len(gone.Sessions), "session"), plural.Of(gone.Contents, "content"))})
	}
	return err
}

// admission returns what the flags of a worker let tasks ask for.
func admission(c *cobra.Command) (a fleet.Admission) {
	f := c.Flags()
	a.Modes, _ = f.GetStringSlice("allow-mode")
	a.SandboxOff, _ = f.GetBool("allow-sandbox-off")
	a.Folders, _ = f.GetStringSlice("allow-folder")
	a.Repositories, _ = f.GetStringSlice("allow-repository")
	a.Rules, _ = f.GetStringArray("allow-rule")
	return a
}

// How long a worker that starts waits before it looks for a server again; looking takes some
// seconds as well.
const (
	awaitLeast = 500 * time.Millisecond
	awaitMost  = 10 * time.Second
)

// await connects. A server that does not answer is waited for until ctx ends, and told of once: a
// worker may be started before its servers are, or while they choose who leads. What is plainly
// wrong with an address or with credentials is an error at once.
func (r runs) await(ctx context.Context, on string) (*Fleet, error) {
	for wait := awaitLeast; ; wait = min(2*wait, awaitMost) {
		server, err := r.Fleet(ctx, on)
		if !errors.Is(err, fleet.ErrAway) || ctx.Err() != nil {
			return server, err
		}
		if wait == awaitLeast {
			r.say(fleet.Event{Kind: "waiting for the server", Why: err.Error()})
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// ready says why a worker takes no task now.
func ready(ctx context.Context, server *Fleet) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("draining")
	case server == nil:
		return errors.New("not connected yet")
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if _, err := server.Queue.Sizes(ctx); err != nil {
		return errors.New("the queue does not answer")
	}
	return nil
}

// saying tells of events, and hands them on.
func (r runs) saying(own func(fleet.Event)) func(fleet.Event) {
	return func(e fleet.Event) {
		r.say(e)
		if own != nil {
			own(e)
		}
	}
}

// say tells of an event in a line, with its time (UTC): what servers log is found by it.
func (r runs) say(e fleet.Event) {
	text := string(e.Kind)
	if e.Run.ID != "" {
		text = e.Run.ID + " " + text
	}
	if e.Run.Task != "" {
		text += " (" + clip(e.Run.Task, 40) + ")"
	}
	if e.Kind == fleet.Ended && e.Run.Result != nil {
		text += ": " + e.Run.Result.Cause
	}
	if e.Why != "" {
		text += ": " + strings.TrimSpace(e.Why)
	}
	mark := "·"
	switch e.Kind {
	case fleet.Retried, fleet.Died, fleet.LostIt, fleet.Unhappy:
		mark = "!"
	}
	fmt.Fprintf(r.Err, "%s %s %s\n", time.Now().UTC().Format(time.TimeOnly), mark, r.Mask().Text(clip(text, 400)))
}
