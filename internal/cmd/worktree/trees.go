// Package worktree implements adze worktree, for the git work trees of parallel sessions. One file
// holds all commands.
//
// The one rule: unique content of a work tree is removed only with --force, and removed content is
// reported.
//
// Start reading at Command. Package internal/project/worktree does the work.
//
// Known limits: none. The tests run the whole program and are in internal/cmd.
package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/project/worktree"
	"adze/internal/sessiondb"
	"adze/internal/text/safeterm"
	"adze/session"
)

// Program is the interface to the program that these commands use.
type Program interface {
	// Store opens the store for reading.
	Store(context.Context, func(*sessiondb.Store) error) error
	// Worktrees calls its function with the manager and this folder.
	Worktrees(func(d worktree.Manager, dir string) error) error
}

type trees struct {
	*cmd.Env
	Program
}

// Command returns adze worktree with its commands.
func Command(e *cmd.Env, p Program) *cobra.Command {
	t := trees{e, p}
	c := cmd.Group("worktree", "Manage the git work trees of sessions", t.list(), t.clean(), t.remove())
	c.Long = "adze --worktree NAME works in a git work tree of its own, on the branch NAME, beside the repository, and makes it where it\n" +
		"is not there; a later adze --worktree NAME goes into it again. These commands look after those."
	return c
}

func (t trees) list() *cobra.Command {
	c := &cobra.Command{Use: "list", Annotations: cmd.CallableByTools(), Short: "List the work trees of this repository, what they hold and who works in them", Args: cmd.RangeArgs(0, 0),
		Example: "  adze worktree list\n  adze worktree list --json | jq -r .path", RunE: t.runList}
	c.Flags().Bool("json", false, "print one JSON object per line")
	return c
}

// treeLine is a work tree in --json.
type treeLine struct {
	worktree.Tree
	Loses    []string     `json:"would_lose,omitempty"`
	Sessions []session.ID `json:"sessions,omitempty"` // users' sessions, newest first
}

func (t trees) runList(c *cobra.Command, _ []string) error {
	return t.Worktrees(func(d worktree.Manager, dir string) error {
		all, err := d.List(c.Context(), dir)
		if err != nil {
			return err
		}
		sessions := t.sessions(c.Context(), all)
		table := t.Columns()
		for _, tree := range all {
			if cmd.Flagged(c, "json") {
				if err := t.WriteJSON(treeLine{tree, tree.Loses(), sessions[tree.Path]}); err != nil {
					return err
				}
				continue
			}
			newest := "-"
			if s := sessions[tree.Path]; len(s) > 0 {
				newest = string(s[0])
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", safeterm.Name(tree.Name), safeterm.Name(tree.Branch), safeterm.Name(state(tree)), safeterm.Name(newest), safeterm.Name(tree.Path))
		}
		return table.Flush()
	})
}

func state(t worktree.Tree) string {
	var out []string
	for _, s := range []struct {
		is   bool
		text string
	}{{t.InUse, "in use"}, {t.Interrupted, "half made"}, {t.Missing, "its folder is gone"}, {t.Locked, "locked"}, {!t.Mine, "not made by adze"}} {
		if s.is {
			out = append(out, s.text)
		}
	}
	if out = append(out, t.Loses()...); len(out) == 0 {
		return "clean"
	}
	return strings.Join(out, ", ")
}

// sessions returns the sessions in each work tree by path. It returns none if the store cannot be
// read; other commands report that.
func (t trees) sessions(ctx context.Context, all []worktree.Tree) map[string][]session.ID {
	found := map[string][]session.ID{}
	_ = t.Store(ctx, func(s *sessiondb.Store) error {
		heads, err := s.List(ctx)
		for _, h := range heads {
			info := h.Info()
			for _, tree := range all {
				if info.Agent == "" && (info.Cwd == tree.Path || strings.HasPrefix(info.Cwd, tree.Path+string(filepath.Separator))) {
					found[tree.Path] = append(found[tree.Path], h.ID)
				}
			}
		}
		return err
	})
	return found
}

func (t trees) clean() *cobra.Command {
	c := &cobra.Command{Use: "clean", Annotations: cmd.CallableByTools(), Short: "Remove the work trees of adze in which nothing would be lost", Args: cmd.RangeArgs(0, 0),
		Long: "Removes every work tree that adze made, with the branch that was made with it, unless a session works in it or it has what\n" +
			"nothing else has: changes that are not committed, files that git does not know, commits that are on no other branch. What an\n" +
			"interrupted adze left half made goes, too. Those that stay are named with the reason. Sessions stay stored.",
		Example: "  adze worktree clean --dry-run\n  adze worktree clean",
		RunE: func(c *cobra.Command, _ []string) error {
			return t.Worktrees(func(d worktree.Manager, dir string) error {
				all, err := d.Clean(c.Context(), dir, worktree.RemoveOptions{Dry: cmd.Flagged(c, "dry-run")})
				for _, r := range all {
					if err := t.tell(c, r); err != nil {
						return err
					}
				}
				return err
			})
		}}
	c.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
	c.Flags().Bool("json", false, "print one JSON object per line")
	return c
}

func (t trees) remove() *cobra.Command {
	c := &cobra.Command{Use: "remove NAME", Annotations: cmd.CallableByTools(), Short: "Remove one work tree of adze", Args: cmd.RangeArgs(1, 1),
		Long:    "Removes a work tree that adze made, with the branch that was made with it. Exits with 7 where it stays: a session works in it,\nor it has what nothing else has, which --force throws away.",
		Example: "  adze worktree remove fix-parser\n  adze worktree remove fix-parser --force",
		RunE:    func(c *cobra.Command, words []string) error { return t.runRemove(c, words[0]) }}
	c.Flags().Bool("force", false, "also what only it has; that is lost, and said")
	c.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
	c.Flags().Bool("json", false, "print one JSON object per line")
	c.ValidArgsFunction = func(c *cobra.Command, words []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		if len(words) == 0 {
			_ = t.Worktrees(func(d worktree.Manager, dir string) error {
				all, err := d.List(c.Context(), dir)
				for _, tree := range all {
					if tree.Mine {
						names = append(names, tree.Name+"\t"+state(tree))
					}
				}
				return err
			})
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func (t trees) runRemove(c *cobra.Command, name string) error {
	return t.Worktrees(func(d worktree.Manager, dir string) error {
		r, err := d.Remove(c.Context(), dir, name, worktree.RemoveOptions{Force: cmd.Flagged(c, "force"), Dry: cmd.Flagged(c, "dry-run")})
		if err != nil {
			return err
		}
		if r.Reason != "" {
			t.Conclude(session.CauseDenied, "", "")
		}
		return t.tell(c, r)
	})
}

func (t trees) tell(c *cobra.Command, r worktree.Removal) error {
	if cmd.Flagged(c, "json") {
		return t.WriteJSON(r)
	}
	said := "removed"
	switch {
	case r.Reason != "":
		said = "stays: " + r.Reason
		if len(r.Lost) > 0 {
			said += "; adze worktree remove " + r.Name + " --force throws that away"
		}
	case !r.Removed:
		said = "would be removed"
	case len(r.Lost) > 0:
		said += ", with " + strings.Join(r.Lost, " and ")
		if r.Commit != "" {
			said += "; git branch " + r.Name + " " + r.Commit[:min(12, len(r.Commit))] + " brings its commits back"
		}
	}
	t.Show("%s: %s\n", safeterm.Name(r.Name), safeterm.Name(said))
	return nil
}
