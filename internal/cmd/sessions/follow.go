package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/print"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/tail"
	"adze/internal/text/safeterm"
	"adze/session"
)

func followCommand(p past) *cobra.Command {
	c := &cobra.Command{Use: "follow [ID]", Annotations: cmd.Anyone(), Short: "Show what happens in a session that another process writes", Args: cmd.Takes(0, 1), ValidArgsFunction: p.ids,
		Long: `What is in the log is shown, and then what comes, until nobody writes any more. Nothing is written, and nobody is disturbed. In a
terminal, adze --resume ID shows the same and can take the session over. Without an ID: the session last used in this folder.`,
		Example: "  adze session follow 20261121t0245\n  adze session follow 20261121t0245 --json | jq -r 'select(.type == \"tool_end\").tool'",
		RunE: func(c *cobra.Command, words []string) error {
			return p.follow(c.Context(), first(words), cmd.Flagged(c, "json"))
		}}
	c.Flags().Bool("json", false, "the lines of --output-format stream-json")
	return c
}

// LogsCommand is adze logs.
func LogsCommand(e *cmd.Env, program Program) *cobra.Command {
	p := past{e, program}
	c := &cobra.Command{Use: "logs ID", Annotations: cmd.Anyone(), Short: "Show what a session in the background said and did", Args: cmd.Takes(1, 1), ValidArgsFunction: p.ids,
		Long:    "What is in the log is shown; with --follow, what comes, too, until the session ends. Nothing is written, and nobody is disturbed.",
		Example: "  adze logs 20261121t0245\n  adze logs 20261121t0245 --follow",
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
				return cmd.Readable(s.Each(c.Context(), sessiondb.Scan{Session: head.ID}, func(f sessiondb.Found) error {
					for _, e := range tail.Events(f.Entry) {
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

// emitter writes events as text, or as the lines of --output-format stream-json.
func (p past) emitter(lines bool) func(session.Event) {
	if lines {
		return (&print.Printer{Out: p.Out, Err: p.Err, Format: print.StreamJSON, Mask: p.Mask}).Observe
	}
	return p.showEvent
}

func (p past) follow(ctx context.Context, prefix string, lines bool) error {
	return p.Store(ctx, func(s *sessiondb.Store) error {
		head, err := p.one(ctx, s, prefix)
		if err != nil {
			return err
		}
		return cmd.Readable((&tail.Follower{Store: s, ID: head.ID, Emit: p.emitter(lines)}).Run(ctx))
	})
}

// showEvent writes what was said and done; what arrives in pieces comes whole.
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
