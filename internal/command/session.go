package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/safeterm"
	"adze/internal/store"
	"adze/session"
)

// sessionCommand is adze session list|verify.
func (a *all) sessionCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "session", Short: "Look at stored sessions", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	list := &cobra.Command{Use: "list", Short: "List stored sessions, newest first", Args: cobra.NoArgs,
		Example: "  adze session list\n  adze session list --all\n  adze session list --json | jq -r .id",
		RunE:    func(c *cobra.Command, _ []string) error { return a.listSessions(c) }}
	list.Flags().Bool("all", false, "of all folders, not only of this one, and those of subagents")
	list.Flags().Bool("json", false, "one JSON object a line")
	verify := &cobra.Command{Use: "verify ID", Short: "Walk a session's hash chain and name the first bad row", Args: cobra.ExactArgs(1),
		Example: "  adze session verify 20261121t0245",
		RunE:    func(c *cobra.Command, args []string) error { return a.verifySession(c.Context(), args[0]) }}
	for _, c := range []*cobra.Command{cmd, list, verify} {
		c.SetFlagErrorFunc(FlagError)
	}
	cmd.AddCommand(list, verify)
	return cmd
}

// Damaged says that a row is not as it was written.
type Damaged struct{ Row *store.BadRow }

// Error is what the store says of the row.
func (e *Damaged) Error() string { return e.Row.Error() }

// sessionLine is one session as session list --json tells it.
type sessionLine struct {
	ID      session.ID `json:"id"`
	Updated time.Time  `json:"updated"`
	Model   string     `json:"model"` // provider/name
	Cwd     string     `json:"cwd"`
	Title   string     `json:"title"`
	Agent   string     `json:"agent,omitempty"`  // of a subagent
	Parent  session.ID `json:"parent,omitempty"` // the session that it works for, or that it is a copy of
}

func (a *all) listSessions(c *cobra.Command) error {
	all, lines := flagged(c, "all"), flagged(c, "json")
	dir, err := a.Here()
	if err != nil {
		return err
	}
	return a.Store(c.Context(), func(s *store.Store) error {
		heads, err := s.List(c.Context())
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrOpen, err)
		}
		table := a.Columns()
		for _, h := range heads {
			info := h.Info()
			if !all && (info.Cwd != dir || info.Agent != "") {
				continue
			}
			title := h.Title()
			if lines {
				if err := a.writeJSON(sessionLine{h.ID, h.Updated.UTC(), info.Model, info.Cwd, title, info.Agent, info.Parent}); err != nil {
					return err
				}
				continue
			}
			if info.Agent != "" {
				title = info.Agent + " (subagent of " + string(info.Parent) + ")"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", safeterm.Name(string(h.ID)), h.Updated.Local().Format("2006-01-02 15:04"),
				safeterm.Name(info.Model), safeterm.Name(title))
		}
		return table.Flush()
	})
}

func (a *all) verifySession(ctx context.Context, prefix string) error {
	return a.Store(ctx, func(s *store.Store) error {
		heads, err := s.List(ctx)
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrOpen, err)
		}
		id, err := a.Session(heads, prefix)
		if err != nil {
			return err
		}
		rows, err := s.Verify(ctx, id)
		var bad *store.BadRow
		if errors.As(err, &bad) {
			return &Damaged{bad}
		}
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrOpen, err)
		}
		fmt.Fprintf(a.Stdout(), "%s: all %d rows are as they were written\n", safeterm.Name(string(id)), rows)
		return nil
	})
}
