package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/config/paths"
	"adze/internal/live"
	"adze/internal/sessiondb"
	"adze/internal/stream"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

func followCommand(p past) *cobra.Command {
	c := &cobra.Command{Use: "follow [ID]", Annotations: cmd.CallableByTools(), Short: "Show what happens in a session that another process writes", Args: cmd.RangeArgs(0, 1), ValidArgsFunction: p.ids,
		Long: `What is in the log is shown, and then what comes, until nobody writes any more. Nothing is written, and nobody is disturbed. In a
terminal, adze --resume ID shows the same and can take the session over. Without an ID: the session last used in this folder.`,
		Example: "  adze sessions follow 20261121t0245\n  adze sessions follow 20261121t0245 --json | jq -r 'select(.type == \"tool_end\").name'",
		RunE: func(c *cobra.Command, words []string) error {
			return p.follow(c.Context(), first(words), cmd.Flagged(c, "json"))
		}}
	c.Flags().Bool("json", false, "the lines of --output-format stream-json")
	return c
}

// LogsCommand returns adze sessions logs.
func LogsCommand(e *cmd.Env, program Program) *cobra.Command {
	p := past{e, program}
	c := &cobra.Command{Use: "logs ID", Annotations: cmd.CallableByTools(), Short: "Show what a session in the background said and did", Args: cmd.RangeArgs(1, 1), ValidArgsFunction: p.ids,
		Long:    "What is in the log is shown; with --follow, what comes, too, until the session ends. Nothing is written, and nobody is disturbed.",
		Example: "  adze sessions logs 20261121t0245\n  adze sessions logs 20261121t0245 --follow",
		RunE: func(c *cobra.Command, words []string) error {
			if cmd.Flagged(c, "follow") {
				return p.follow(c.Context(), words[0], cmd.Flagged(c, "json"))
			}
			return p.Store(c.Context(), func(s *sessiondb.Store) error {
				head, err := p.one(c.Context(), s, words[0])
				if err != nil {
					return err
				}
				emit := p.emitter(cmd.Flagged(c, "json"))
				return cmd.Readable(s.ScanEach(c.Context(), sessiondb.Scan{Session: head.ID}, func(f sessiondb.ScanResult) error {
					for _, e := range live.Logged(f.Entry) {
						emit(e)
					}
					return nil
				}))
			})
		}}
	c.Flags().BoolP("follow", "f", false, "go on with what comes, until the session ends")
	c.Flags().Bool("json", false, "the lines of --output-format stream-json")
	return c
}

// emitter prints events as text, or as lines of --output-format stream-json.
func (p past) emitter(lines bool) func(session.Event) {
	if lines {
		return (&stream.Printer{Out: p.Out, Err: p.Err, Format: stream.StreamJSON, Mask: p.Mask}).Observe
	}
	return p.showEvent
}

func (p past) follow(ctx context.Context, prefix string, lines bool) error {
	return p.Store(ctx, func(s *sessiondb.Store) error {
		head, err := p.one(ctx, s, prefix)
		if err != nil {
			return err
		}
		f := follower{past: p, logs: s, id: head.ID, seen: map[string]bool{}, lines: lines, emit: p.emitter(lines)}
		return cmd.Readable(f.run(ctx))
	})
}

// follower follows a session from one owning process to the next.
type follower struct {
	past
	logs  *sessiondb.Store
	id    session.ID
	after int64           // last printed log entry
	seen  map[string]bool // by event identity
	lines bool
	emit  func(session.Event)
}

// run prints events until no process owns the session.
func (f *follower) run(ctx context.Context) error {
	folder := live.Folder(f.Getenv, paths.FromEnv(f.Getenv).State)
	for met := false; ; met = true {
		c, err := live.Dial(ctx, folder, f.id, live.Subscription{Kind: "adze sessions follow", After: f.after})
		switch {
		case err == nil:
			if err := f.watch(ctx, c); err != nil {
				return err
			}
			continue
		case met && errors.Is(err, live.ErrNobody):
			return nil
		}
		all := f.logs.ScanEach(ctx, sessiondb.Scan{Session: f.id, After: f.after}, func(found sessiondb.ScanResult) error {
			f.show(live.Logged(found.Entry), f.emit)
			return nil
		})
		holder := f.logs.Holder(f.id)
		switch {
		case all != nil:
			return all
		case !errors.Is(err, live.ErrNobody):
			return fmt.Errorf("what comes is not shown: %w", err)
		case holder != "":
			return usage.Mistake("try again when it has ended", "what comes is not shown: %s has the session, and it cannot be watched there", holder)
		}
		return nil
	}
}

// watch prints one owner's events until it releases the session or dies.
func (f *follower) watch(ctx context.Context, c *live.Client) error {
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	var events live.Events
	for {
		l, err := c.Next()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, live.ErrKilled):
			fmt.Fprintf(f.Err, "! %s\n", err)
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if l.Type == "live" {
			var told struct{ After int64 }
			_ = json.Unmarshal(l.Raw, &told) // it was parsed before
			f.after = told.After
		}
		f.show(events.Decode(l), func(e session.Event) {
			if f.lines {
				_, _ = fmt.Fprintf(f.Out, "%s\n", l.Raw) // a closed reader ends the program
				return
			}
			f.emit(e)
		})
	}
}

// show prints events, each once.
func (f *follower) show(all []session.Event, emit func(session.Event)) {
	for _, e := range all {
		id := live.Identity(e)
		if id == "" || !f.seen[id] {
			emit(e)
		}
		f.seen[id] = true
	}
}

// showEvent prints messages and actions; it prints partial events once they are complete.
func (p past) showEvent(e session.Event) {
	switch e := e.(type) {
	case session.MessageDone:
		if text := e.Message.Text(); text != "" {
			who := map[bool]string{true: "> "}[e.Message.Role == session.User]
			p.Show("%s%s\n", who, text)
		}
	case session.ToolEnd:
		p.Show("%s (%s)\n", safeterm.Name(e.Outcome.Headed().String()), e.Outcome.Status)
	case session.Notice:
		p.Show("! %s\n", e.Text)
	}
}
