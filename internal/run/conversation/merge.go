package conversation

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/policy"
	"adze/internal/project/worktree"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// OpenOwn opens a stored session under its lock for the user's own commands. It uses no model and
// denies all other permission requests.
func OpenOwn(ctx context.Context, p *process.Process, id session.ID, cwd string, own *OwnCommand) (*Conversation, error) {
	o := flags.Request{Run: flags.New(), ByHand: nobody("nobody")}
	o.Resume, o.Cwd, o.Bare = string(id), cwd, true
	ask := func(_ context.Context, q tool.Question, _ policy.Prompt) (policy.Answer, error) {
		if own.Is(q) {
			return policy.Answer{Choice: policy.Once}, nil
		}
		return policy.Answer{Choice: policy.No, Reason: "only the user's own command runs here"}, nil
	}
	w, err := Open(ctx, p, o, func(session.Event) {}, Person{Ask: ask, Own: own.Runs})
	return OrAborted(ctx, w, err)
}

// merger merges the branch of a session's work tree into the main checkout, by a user command in
// the session.
type merger struct {
	trees func() worktree.Manager // created per merge, because it searches PATH for git
	dir   string                  // the session's folder
	tell  func(string)
	run   func(ctx context.Context, command string, came func(tool.Outcome)) session.Result
}

func (g merger) plan(ctx context.Context) (api.Merge, error) {
	m, err := g.trees().PlanMerge(ctx, g.dir)
	if err != nil {
		if hint := process.Failure(err).Hint; hint != "" {
			err = fmt.Errorf("%w; %s", err, hint)
		}
		return api.Merge{}, err
	}
	return api.Merge{Says: m.String(), Files: m.Files}, nil
}

// merge runs as a normal call: with the user's git, its hooks and signatures, and with log entries.
func (g merger) merge(ctx context.Context) session.Result {
	trees := g.trees()
	m, err := trees.PlanMerge(ctx, g.dir)
	if err != nil {
		return process.Failure(err)
	}
	var outcome tool.Outcome
	r := g.run(ctx, m.Command(), func(o tool.Outcome) { outcome = o })
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
		r.Text = "merged " + m.Branch + " into " + m.Into
		if m.Mine {
			g.tell(r.Text + "; when you have left this session, adze worktree remove " + m.Name + " removes the work tree")
		}
	}
	return r
}
