package conversation

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/project/worktree"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// OpenOwn opens a stored session under its lock for the user's own commands. It uses no model and
// denies all other permission requests.
func OpenOwn(ctx context.Context, p *process.Process, id session.ID, cwd string) (*Conversation, error) {
	o := flags.Request{Run: flags.New(), ByHand: silentProvider("nobody")}
	o.Resume, o.Cwd, o.Bare = string(id), cwd, true
	deny := func(context.Context, ask.Permission) (ask.Answer, error) {
		return ask.Answer{Reason: "only the user's own command runs here"}, nil
	}
	w, err := Open(ctx, p, o, func(session.Event) {}, UserCallbacks{Ask: deny})
	return OrAborted(ctx, w, err)
}

// trees returns the work tree manager, which searches PATH for git.
func (w *Conversation) trees() worktree.Manager {
	return settings.TreesOf(w.Settings.Process, w.Settings.Config, w.Head.Cwd)
}

func (w *Conversation) mergePlan(ctx context.Context) (api.Merge, error) {
	m, err := w.trees().PlanMerge(ctx, w.Head.Cwd)
	if err != nil {
		if hint := process.Failure(err).Hint; hint != "" {
			err = fmt.Errorf("%w; %s", err, hint)
		}
		return api.Merge{}, err
	}
	return api.Merge{Summary: m.String(), Files: m.Files}, nil
}

// merge merges the branch of the session's work tree into the main checkout. It runs as a normal
// call: with the user's git, its hooks and signatures, and with log entries.
func (w *Conversation) merge(ctx context.Context) session.Result {
	trees := w.trees()
	m, err := trees.PlanMerge(ctx, w.Head.Cwd)
	if err != nil {
		return process.Failure(err)
	}
	r, outcome := w.shellOutcome(ctx, m.Command())
	if r.Cause != session.CauseDone {
		return r
	}
	merged, err := trees.Merged(context.WithoutCancel(ctx), m)
	switch {
	case err != nil:
		return process.Failure(err)
	case !merged:
		r.Cause, r.Message = session.CauseTool, "nothing was merged: "+strings.Join(strings.Fields(outcome.Output), " ")
		r.Hint = "git -C " + m.Main + " status shows how it stands there"
		if outcome.Status == tool.Denied {
			r.Cause = session.CauseDenied
		}
	default:
		r.Text = "merged " + m.Branch + " into " + m.Target
		if m.Mine {
			w.observe(session.Notice{Text: r.Text + "; when you have left this session, adze worktree remove " + m.Name + " removes the work tree", Kind: session.Remark})
		}
	}
	return r
}
