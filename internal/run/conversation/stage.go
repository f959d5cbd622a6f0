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

// Staging runs staged turns: with review: once their calls work on a view of the workspace, and at
// the end the user decides about all changes by a call.
type Staging struct {
	stage   *guard.Stage
	session func() *session.Session
	observe func(session.Event)
}

// Wake passes late background results to the model.
func (g *Staging) Wake(ctx context.Context) session.Result { return g.RunPrompt(ctx, session.Input{}) }

// RunPrompt runs a prompt. With review: once the turn's changes wait for the user.
func (g *Staging) RunPrompt(ctx context.Context, in session.Input) session.Result {
	if g.stage.Wanted() {
		return g.onStage(func() session.Result { return g.session().Prompt(ctx, in) })
	}
	return g.session().Prompt(ctx, in)
}

// onStage runs a turn whose calls work on the stage.
func (g *Staging) onStage(turn func() session.Result) session.Result {
	if err := g.stage.Begin(); err != nil {
		return process.Failure(usage.Mistake("leave --staged out; /stage off in a session", "%v", err))
	}
	r := turn()
	r.Changed = nil // the workspace is unchanged
	if err := g.stage.End(); err != nil {
		g.observe(session.Notice{Text: "the changes of the turn cannot be shown, and wait: " + err.Error()})
		return r
	}
	if g.stage.Waits() {
		if s, err := g.stage.Peek(); err == nil {
			r.Staged, _ = json.Marshal(s.Report("kept")) // strings and numbers cannot fail
		}
		g.tellLater(r)
	}
	return r
}

// tellLater explains how to return to unreviewed changes.
func (g *Staging) tellLater(r session.Result) {
	if told := g.Waiting("/stage shows them"); told != "" && r.Cause != session.CauseDone {
		g.observe(session.Notice{Text: told})
	}
}

// Waiting returns a message about waiting changes and how to decide about them, or "".
func (g *Staging) Waiting(how string) string {
	s, err := g.stage.Peek()
	if err != nil || s.Empty() {
		return ""
	}
	return fmt.Sprintf("%s of a staged turn wait for you and are not in the workspace: %s", plural.Of(len(s.Files), "changed file"), how)
}

// left returns a notice about changes from an earlier process.
func (g *Staging) left() (notices []string) {
	if told := g.Waiting("/stage shows them; --staged take or --staged drop decides without a screen"); g.stage.MayExist() && told != "" {
		return []string{told}
	}
	return nil
}

// Decide carries out the user's decision about a stage: review asks; take, drop and patch=FILE
// apply it.
func (g *Staging) Decide(ctx context.Context, decision string) session.Result {
	if file, ok := strings.CutPrefix(decision, "patch="); ok {
		if err := g.writePatch(file); err != nil {
			return process.Failure(err)
		}
		decision = toolset.StageDrop
	}
	args, _ := json.Marshal(map[string]string{"decision": decision}) // a string cannot fail
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

// DecideAlone decides about a turn's changes without a user.
func (g *Staging) DecideAlone(ctx context.Context, decision string, r session.Result) session.Result {
	if !g.stage.Waits() {
		return r
	}
	if decision == toolset.StageTake && r.Cause != session.CauseDone {
		decision = ""
	}
	if decision == "" || decision == "keep" {
		var shown toolset.StageReport
		_ = json.Unmarshal(r.Staged, &shown) // written by onStage
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

// writePatch writes the staged changes to a file, for git apply. After an error they must stay.
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

// SettleWaiting decides about changes from an earlier run.
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
