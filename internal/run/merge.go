package run

import (
	"context"
	"errors"
	"fmt"

	"adze/internal/config/paths"
	"adze/internal/live"
	"adze/internal/project/worktree"
	"adze/internal/run/conversation"
	"adze/internal/run/settings"
	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/session"
)

// trees are the work trees of the repository that a session works in.
func (a *app) trees(dir string) (worktree.Manager, error) {
	cfg, _, err := a.Config()
	return settings.TreesOf(a.Process, cfg, dir), err
}

// Merge merges the branch of a session's work tree into the main checkout, or only says what that
// comes to. The session is opened for it under its lock: its log and the audit keep the merge.
func (a *app) Merge(ctx context.Context, head session.Head, look bool) (worktree.Merge, error) {
	cwd := head.Info().Cwd
	trees, err := a.trees(cwd)
	if err != nil {
		return worktree.Merge{}, err
	}
	m, err := trees.PlanMerge(ctx, cwd)
	if err != nil || look {
		return m, err
	}
	if err := a.letGo(ctx, head.ID); err != nil {
		return m, err
	}
	var own conversation.OwnCommand
	w, err := conversation.OpenOwn(ctx, a.Process, head.ID, cwd, &own)
	if err != nil {
		return m, err
	}
	defer w.Close()
	merge := conversation.Ports(w, &own).Merge
	if merge == nil {
		return m, usage.Mistake("merge with git in "+m.Main, "the session runs no commands")
	}
	r := merge(ctx)
	w.Close()
	if r.Cause != session.CauseDone {
		return m, usage.Mistake(r.Hint, "%s", r.Message)
	}
	return m, a.Change(ctx, func(s *sessiondb.Store) error {
		return s.Owner().Label(ctx, head.ID, sessiondb.Label{Kind: sessiondb.UntagLabel, Value: live.ReviewTag, By: sessiondb.ByPerson})
	})
}

// RemoveTree removes a work tree whose branch is merged, unless it has what nothing else has.
func (a *app) RemoveTree(ctx context.Context, m worktree.Merge) (worktree.Removal, error) {
	if !m.Mine {
		return worktree.Removal{Why: "it was not made by adze; git worktree remove " + m.Path + " removes it"}, nil
	}
	trees, err := a.trees(m.Main)
	if err != nil {
		return worktree.Removal{}, err
	}
	return trees.Remove(ctx, m.Main, m.Name, worktree.Wish{})
}

// letGo has the process that has a session let go of it, where nothing runs there and nobody sits
// at its window. Where no process has it, nothing is to be done.
func (a *app) letGo(ctx context.Context, id session.ID) error {
	c, err := live.Dial(ctx, live.Folder(a.Getenv, paths.Of(a.Getenv).State), id, live.Wish{As: "adze", StateOnly: true})
	if errors.Is(err, live.ErrNobody) || errors.Is(err, live.ErrUnavailable) {
		return nil // the lock says whether that is so
	}
	if err != nil {
		return err
	}
	h := c.Hello
	_ = c.Close() // nothing was sent
	switch {
	case h.Window:
		return usage.Mistake("do it there, or leave it", "process %d shows the session in a window of its own", h.PID)
	case h.State != live.Idle:
		return usage.Mistake(fmt.Sprintf("wait for it, or end it: adze sessions stop %s", id), "process %d still works on the session", h.PID)
	}
	return a.end(ctx, id)
}
