package sessions

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/project/worktree"
	"adze/internal/sessiondb"
	"adze/internal/text/safeterm"
	"adze/session"
)

func (p past) merge() *cobra.Command {
	c := &cobra.Command{Use: "merge ID", Short: "Merge the branch of a session's work tree into the main checkout", Args: cmd.RangeArgs(1, 1), ValidArgsFunction: p.ids,
		Long: `Merges the commits of the work tree that the session works in into the branch that is checked out in the main checkout, with your
git, its hooks and signatures; the session's log keeps it. Nothing is merged where the main checkout has changes of its own in the
same files, or where the branches conflict: the message names the files and the next move. A merge that git cannot finish is taken
back whole. What is not committed in the work tree stays there.`,
		Example: "  adze sessions merge 20261121t0245 --dry-run\n  adze sessions merge 20261121t0245 --remove",
		RunE:    func(c *cobra.Command, words []string) error { return p.mergeSession(c, words[0]) }}
	c.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
	c.Flags().Bool("remove", false, "then remove the work tree with its branch, unless it has what nothing else has")
	c.Flags().Bool("json", false, "print one JSON object")
	return c
}

// mergeLine is the --json object.
type mergeLine struct {
	worktree.Merge
	Merged  bool   `json:"merged"`
	Removed bool   `json:"removed"`
	Reason  string `json:"why,omitempty"` // why the work tree stays
}

func (p past) mergeSession(c *cobra.Command, prefix string) error {
	head, err := p.head(c.Context(), prefix)
	if err != nil {
		return err
	}
	look, remove := cmd.Flagged(c, "dry-run"), cmd.Flagged(c, "remove")
	m, err := p.Merge(c.Context(), head, look)
	if err != nil {
		return err
	}
	line := mergeLine{Merge: m, Merged: !look}
	if remove && !look {
		r, err := p.RemoveTree(c.Context(), m)
		if err != nil {
			return err
		}
		line.Removed, line.Reason = r.Removed, r.Reason
	}
	if cmd.Flagged(c, "json") {
		return p.WriteJSON(line)
	}
	said := "would " + m.String()
	if !look {
		said = "merged: " + m.String()
	}
	fmt.Fprintln(p.Stdout(), safeterm.Name(said))
	switch {
	case line.Removed:
		fmt.Fprintf(p.Stdout(), "removed the work tree %s\n", safeterm.Name(m.Name))
	case line.Reason != "":
		p.Conclude(session.CauseDenied, "", "")
		fmt.Fprintf(p.Stdout(), "the work tree %s stays: %s\n", safeterm.Name(m.Name), safeterm.Name(line.Reason))
	case !look && m.Mine:
		fmt.Fprintf(p.Err, "adze worktree remove %s removes the work tree\n", safeterm.Name(m.Name))
	}
	return nil
}

// head returns the session with an id prefix.
func (p past) head(ctx context.Context, prefix string) (head session.Head, err error) {
	err = p.Store(ctx, func(s *sessiondb.Store) error {
		head, err = p.one(ctx, s, prefix)
		return err
	})
	return head, err
}
