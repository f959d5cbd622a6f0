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

// trees returns the work trees of dir's repository.
func (a *app) trees(dir string) (worktree.Manager, error) {
	cfg, _, err := a.Config()
	return settings.TreesOf(a.Process, cfg, dir), err
}

// Merge merges a session's work tree branch into the main checkout; with look it only returns the
// plan. The session is opened under its lock, so that log and audit record the merge.
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
	w, err := conversation.OpenOwn(ctx, a.Process, head.ID, cwd)
	if err != nil {
		return m, err
	}
	defer w.Close()
	merge := w.Ports().Merge
	if merge == nil {
		return m, usage.Mistake("merge with git in "+m.Main, "the session runs no commands")
	}
	r := merge(ctx)
	w.Close()
	if r.Cause != session.CauseDone {
		return m, usage.Mistake(r.Hint, "%s", r.Message)
	}
	return m, a.Change(ctx, func(s *sessiondb.Store) error {
		return s.Owner().Label(ctx, head.ID, sessiondb.Label{Kind: sessiondb.UntagLabel, Value: live.ReviewTag, Author: sessiondb.ByPerson})
	})
}

// RemoveTree removes a work tree whose branch is merged, unless it contains unsaved work.
func (a *app) RemoveTree(ctx context.Context, m worktree.Merge) (worktree.Removal, error) {
	if !m.Mine {
		return worktree.Removal{Reason: "it was not made by adze; git worktree remove " + m.Path + " removes it"}, nil
	}
	trees, err := a.trees(m.Main)
	if err != nil {
		return worktree.Removal{}, err
	}
	return trees.Remove(ctx, m.Main, m.Name, worktree.RemoveOptions{})
}

// letGo makes a session's owner release it if it is idle and has no window. Without an owner it
// does nothing.
func (a *app) letGo(ctx context.Context, id session.ID) error {
	c, err := live.Dial(ctx, live.Folder(a.Getenv, paths.FromEnv(a.Getenv).State), id, live.Subscription{Kind: "adze", StateOnly: true})
	if errors.Is(err, live.ErrNobody) || errors.Is(err, live.ErrUnavailable) {
		return nil // opening the lock shows whether this is true
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
