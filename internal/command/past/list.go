package past

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/command"
	"adze/internal/safeterm"
	"adze/internal/store"
	"adze/session"
)

func (p past) list() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List stored sessions, newest first", Args: cobra.NoArgs,
		Example: "  adze session list\n  adze session list --all\n  adze session list --json | jq -r .id",
		RunE:    func(c *cobra.Command, _ []string) error { return p.listSessions(c) }}
	list.Flags().Bool("all", false, "of all folders, not only of this one, and those of subagents")
	list.Flags().Bool("json", false, "one JSON object a line")
	return list
}

// sessionLine is one session as session list --json tells it.
type sessionLine struct {
	ID      session.ID `json:"id"`
	Updated time.Time  `json:"updated"`
	Model   string     `json:"model"` // provider/name
	Cwd     string     `json:"cwd"`
	Title   string     `json:"title"`
	Agent   string     `json:"agent,omitempty"`  // of a subagent
	Parent  session.ID `json:"parent,omitempty"` // the session that it works for, or that it is a copy of
	From    session.ID `json:"imported_from,omitempty"`
}

func (p past) listSessions(c *cobra.Command) error {
	all, lines := command.Flagged(c, "all"), command.Flagged(c, "json")
	dir, err := p.Here()
	if err != nil {
		return err
	}
	return p.Store(c.Context(), func(s *store.Store) error {
		heads, err := s.List(c.Context())
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrOpen, err)
		}
		table := p.Columns()
		for _, h := range heads {
			info := h.Info()
			if !all && (info.Cwd != dir || info.Agent != "") {
				continue
			}
			title := h.Title()
			if lines {
				line := sessionLine{h.ID, h.Updated.UTC(), info.Model, info.Cwd, title, info.Agent, info.Parent, ""}
				if info.Imported != nil {
					line.From = info.Imported.Session
				}
				if err := p.WriteJSON(line); err != nil {
					return err
				}
				continue
			}
			if info.Imported != nil {
				title += " (imported)"
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
