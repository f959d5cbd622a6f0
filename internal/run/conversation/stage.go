package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"adze/internal/run/guard"
	"adze/internal/run/process"
	"adze/internal/text/plural"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// Staging is what staged turns are to a conversation: with review: once their calls work on a view
// of the workspace, and the user decides about all of it in the end, by a call of their own.
type Staging struct {
	stage   *guard.Stage
	session func() *session.Session
	observe func(session.Event)
}

// Wake tells the model late results from the background.
func (g *Staging) Wake(ctx context.Context) session.Result { return g.Say(ctx, session.Input{}) }

// Say has the model answer a prompt. With review: once the changes of the turn wait for the user.
func (g *Staging) Say(ctx context.Context, in session.Input) session.Result {
	if g.stage.Wanted() {
		return g.onStage(func() session.Result { return g.session().Prompt(ctx, in) })
	}
	return g.session().Prompt(ctx, in)
}

// onStage has the calls of a turn work on the stage.
func (g *Staging) onStage(turn func() session.Result) session.Result {
	if err := g.stage.Begin(); err != nil {
		return process.Failure(usage.Mistake("leave --staged out; /stage off in a session", "%v", err))
	}
	r := turn()
	r.Changed = nil // nothing of it is in the workspace
	if err := g.stage.End(); err != nil {
		g.observe(session.Notice{Text: "the changes of the turn cannot be shown, and wait: " + err.Error()})
		return r
	}
	if g.stage.Waits() {
		if s, err := g.stage.Peek(); err == nil {
			r.Staged, _ = json.Marshal(s.Report("kept")) // it holds texts and numbers
		}
		g.tellLater(r)
	}
	return r
}

// tellLater says how to come back to changes that wait, where they were not reviewed.
func (g *Staging) tellLater(r session.Result) {
	if told := g.Waiting("/stage shows them"); told != "" && r.Cause != session.CauseDone {
		g.observe(session.Notice{Text: told})
	}
}

// Waiting says that changes of a staged turn wait, and how to decide about them. It is empty where
// none do.
func (g *Staging) Waiting(how string) string {
	s, err := g.stage.Peek()
	if err != nil || s.Empty() {
		return ""
	}
	return fmt.Sprintf("%s of a staged turn wait for you and are not in the workspace: %s", plural.Of(len(s.Files), "changed file"), how)
}

// left tells of changes that an earlier process has left.
func (g *Staging) left() (notices []string) {
	if told := g.Waiting("/stage shows them; --staged take or --staged drop decides without a screen"); g.stage.There() && told != "" {
		return []string{told}
	}
	return nil
}

// Decide has the user's decision about a stage carried out: review asks them; take, drop and
// patch=FILE do it.
func (g *Staging) Decide(ctx context.Context, decision string) session.Result {
	if file, ok := strings.CutPrefix(decision, "patch="); ok {
		if err := g.writePatch(file); err != nil {
			return process.Failure(err)
		}
		decision = toolset.StageDrop
	}
	args, _ := json.Marshal(map[string]string{"decision": decision}) // a text
	var r session.Result
	var came tool.Outcome
	g.stage.Decide(func() {
		r = g.session().Run(ctx, tool.RawCall{Name: toolset.StageTool, Arguments: string(args), Origin: tool.Native}, func(o tool.Outcome) string {
			came = o
			return fmt.Sprintf("I looked at the changes of the staged turn (%s):\n%s", o.Status, o.Output)
		})
	})
	r.Staged = came.Metadata
	g.tellLater(r)
	if r.Cause == session.CauseDone && came.Status != tool.Completed {
		r.Cause, r.Message = session.CauseTool, came.Output
	}
	return r
}

// Settle decides about the changes of a turn where nobody is there to be asked.
func (g *Staging) Settle(ctx context.Context, decision string, r session.Result) session.Result {
	if !g.stage.Waits() {
		return r
	}
	if decision == toolset.StageTake && r.Cause != session.CauseDone {
		decision = ""
	}
	if decision == "" || decision == "keep" {
		var shown toolset.StageReport
		_ = json.Unmarshal(r.Staged, &shown) // it is our own
		g.observe(session.Notice{Text: g.Waiting("adze -p --continue --staged take takes them, --staged drop drops them") + "\n" + strings.TrimSpace(shown.String())})
		return r
	}
	d := g.Decide(ctx, decision)
	r.Staged, r.Changed = d.Staged, d.Changed
	if d.Cause != session.CauseDone {
		r.Cause, r.Message, r.Hint, r.Err = d.Cause, d.Message, d.Hint, d.Err
	}
	return r
}

// writePatch writes the staged changes to a file, for git apply. An error says that they must wait.
func (g *Staging) writePatch(file string) error {
	s, err := g.stage.Peek()
	text, whole := s.Patch()
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	switch {
	case err == nil && !whole:
		return usage.Mistake("all changes wait: adze -p --continue --staged take, or drop", "%s lacks what its first lines name", file)
	case err != nil:
		return usage.Mistake("the changes wait: adze -p --continue --staged patch=FILE, with a file in a folder that is there", "--staged patch: %v", err)
	}
	return nil
}

// SettleWaiting decides about changes that an earlier run has left.
func (g *Staging) SettleWaiting(ctx context.Context, decision string) session.Result {
	if !g.stage.Waits() {
		return process.Failure(usage.Mistake("adze -p --staged keep … makes some", "no changes of a staged turn wait in this session"))
	}
	r := g.Decide(ctx, decision)
	var shown toolset.StageReport
	if r.Cause == session.CauseDone && json.Unmarshal(r.Staged, &shown) == nil {
		r.Text = shown.Decision + ":\n" + shown.String()
	}
	return r
}
