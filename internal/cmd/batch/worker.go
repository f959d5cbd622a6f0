package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/signals"
	"adze/internal/fleet"
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
full, and says what helps; --sandbox-level takes a lower one.

On SIGTERM or Ctrl-C it takes no more tasks and lets those that run come to their end for --grace; what is left then, or at the
second signal, is given back, and another worker begins it anew.

A task of a worker that says nothing for 30 s goes to another one, which begins it anew in a new clone: what the first one did outside its
clone may be done twice. ADZE_NATS_LEASE is another time, where a batch is submitted and for its workers alike. A task that was begun
--attempts times has the result "dead".`

func (r command) workerCommand() *cobra.Command {
	c := &cobra.Command{Use: "worker", Annotations: cmd.CallableByTools(), Short: "Run tasks of batches from a NATS server", Long: workerLong, Args: cmd.RangeArgs(0, 0), ValidArgsFunction: cobra.NoFileCompletions,
		Example: `  adze batch worker --on nats://localhost:4222 --jobs 4
  ADZE_NATS=tls://queue.example:4222 ADZE_NATS_TOKEN_FILE=/run/secrets/nats adze batch worker --label core`,
		RunE: r.worker}
	f := c.Flags()
	f.String("on", "", "the NATS server, nats://HOST:PORT (default: $ADZE_NATS)")
	f.IntP("jobs", "j", 2, "how many tasks run at a time")
	f.StringSlice("label", nil, "take only tasks with one of these `LABELS` (default: all)")
	f.Duration("grace", 25*time.Second, "how long tasks may go on after SIGTERM")
	f.String("dir", "", "where clones are made while tasks run (default: adze/workers in the cache folder)")
	f.StringSlice("allow-mode", nil, "let tasks run in this permission `MODE`, too (yolo); plan, ask and auto are always admitted")
	f.Bool("allow-sandbox-off", false, "let tasks run commands outside the sandbox (--sandbox off)")
	f.String("sandbox-level", "", "start only where the sandbox reaches this `LEVEL`: full, degraded or none (default: full, or none with --allow-sandbox-off)")
	f.StringSlice("allow-folder", nil, "let tasks have their files, or a repository that is a path, at or below this `DIR` of this machine")
	f.StringSlice("allow-repository", nil, "take only tasks whose repository matches this `PATTERN`, such as 'https://host/team/*' (default: every address of another machine)")
	f.StringArray("allow-rule", nil, "let tasks bring this `RULE` with --allow, such as 'network(docs.example)'; it must be the same, word for word")
	f.String("name", "", "the worker's name in lists (default: host and process)")
	r.gone(c, "listen", "figures for Prometheus are gone; the monitor of the NATS server counts tasks")
	return c
}

func (r command) worker(c *cobra.Command, _ []string) error {
	f := c.Flags()
	jobs, _ := f.GetInt("jobs")
	grace, _ := f.GetDuration("grace")
	labels, _ := f.GetStringSlice("label")
	if jobs < 1 || grace < 0 {
		return usage.Mistake("one job at least", "--jobs or --grace is too small")
	}
	for _, l := range labels {
		if !fleet.SoundLabel(l) {
			return usage.Mistake("small letters, digits and -", "--label %q is not a label", l)
		}
	}
	var limits fleet.Limits
	limits.Modes, _ = f.GetStringSlice("allow-mode")
	limits.SandboxOff, _ = f.GetBool("allow-sandbox-off")
	limits.Folders, _ = f.GetStringSlice("allow-folder")
	limits.Repositories, _ = f.GetStringSlice("allow-repository")
	limits.Rules, _ = f.GetStringArray("allow-rule")
	level, _ := f.GetString("sandbox-level")
	if level == "" && limits.SandboxOff {
		level = "none"
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
	on, _ := f.GetString("on")
	var server *fleet.Server
	for told := false; server == nil; { // a worker may start before its servers
		var err error
		server, err = r.Server(ctx, on)
		switch {
		case ctx.Err() != nil:
			return nil // stopped before it took a task
		case err != nil && !errors.Is(err, fleet.ErrAway):
			return r.failed(err, "name another server with --on")
		case err != nil && !told:
			r.say("waiting for the server: " + err.Error())
			told = true
		}
	}
	defer server.Close()
	dir, _ := f.GetString("dir")
	w, done, err := r.Worker(server, dir, level, limits)
	if err != nil {
		return err
	}
	defer done()
	w.Jobs, w.Grace, w.Labels, w.Notify = jobs, grace, labels, r.say
	if name, _ := f.GetString("name"); name != "" {
		w.Name = name
	}
	now.Store(w)
	fmt.Fprintf(r.Err, "worker %s takes tasks from %s, %d at a time\n", safeterm.Name(w.Name), server.URL(), jobs)
	return w.Run(ctx)
}

// say prints a line with the time in UTC, to match the servers' logs.
func (r command) say(text string) {
	fmt.Fprintf(r.Err, "%s %s\n", time.Now().UTC().Format(time.TimeOnly), r.Mask().Text(clip(text, 400)))
}
