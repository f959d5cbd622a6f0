package toolset

import (
	"context"
	"strings"

	"adze/tool"
)

// Plans receives the model's plans. Contract:
//   - Propose stores the plan where the user can read and edit it, and shows it to a present user;
//   - the result is the user's: no text by the model accepts a plan;
//   - it returns ctx.Err() when ctx ends while they think.
type Plans interface {
	Propose(ctx context.Context, text string) (Proposed, error)
}

// Proposed is the user's answer to a plan.
type Proposed struct {
	State  string // proposed, accepted or returned
	Path   string // the plan's file
	SHA256 string // hash of the current text
	Text   string
	Mode   string // mode to continue in, if accepted
	Edits  string // the user's changes, as a unified diff
	// Output is for the model; Stop ends the turn with it.
	Output string
	Stop   bool
}

type planArgs struct {
	Plan string `json:"plan" doc:"the whole plan, in Markdown" offer:"plain"`
}

type planMeta struct {
	Path   string `json:"path,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	State  string `json:"state,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Text   string `json:"text,omitempty"`
	Edits  string `json:"edits,omitempty"`
}

// maxPlan limits a plan, in bytes: a user reads it before accepting it, and it is repeated after a
// compaction.
const maxPlan = 24 << 10

func plan(plans Plans) tool.Tool {
	return tool.Define("plan", tool.Config[planArgs, planMeta]{
		Description: describe("plan"),
		// It names no path: the plan is stored beside the session, and no rule about files makes an
		// exception for it.
		Permissions: tool.Requires(tool.Read),
		Needs:       func(planArgs) []tool.Need { return tool.StateNeed("the plan") },
		Unoffered:   plans == nil,
		Tags:        []string{"plan", "propose", "approve", "design"},
		Aliases:     []string{"exit_plan_mode", "plan_exit", "plan_mode_respond", "submit_plan", "present_plan", "create_plan"},
		Compat:      tool.Compat{Args: map[string]string{"text": "plan", "markdown": "plan", "content": "plan", "response": "plan", "body": "plan"}},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("path", "sha256", "state", "mode"),
		Run: func(ctx context.Context, c tool.Context[planMeta], in planArgs) (tool.Result[planMeta], error) {
			return runPlan(ctx, c, plans, in)
		},
		View: viewPlan,
	})
}

func runPlan(ctx context.Context, c tool.Context[planMeta], plans Plans, in planArgs) (tool.Result[planMeta], error) {
	text := strings.TrimSpace(in.Plan)
	result := tool.Result[planMeta]{Title: planTitle(text, "")}
	switch {
	case plans == nil:
		return result, tool.Fail(tool.CodeLimit, "only the main conversation puts a plan to the person; report it as your answer")
	case text == "":
		return result, tool.Fail(tool.CodeInvalidArguments, "the plan is empty; write down what is to be done")
	case len(text) > maxPlan:
		return result, tool.Fail(tool.CodeTooLarge, "the plan has %d bytes, at most %d; leave out what the code itself says", len(text), maxPlan)
	}
	c.Metadata(result.Title, planMeta{State: "proposed", Text: text})
	over := c.Waits()
	p, err := plans.Propose(ctx, text)
	over()
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	if err != nil {
		return result, err
	}
	result.Title = planTitle(p.Text, p.State)
	result.Metadata = planMeta{p.Path, p.SHA256, p.State, p.Mode, p.Text, p.Edits}
	result.Output, result.Stop = p.Output, p.Stop
	return result, nil
}

// planTitle returns a plan's first line and its state.
func planTitle(text, state string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(text, "# \n"), "\n")
	title := oneLine(first, 60)
	if state != "" {
		title += " (" + state + ")"
	}
	return title
}

func viewPlan(m planMeta) []tool.Block {
	blocks := tool.Markdown(m.Text)
	if m.Edits != "" {
		blocks = append(blocks, tool.Diff("plan.md", m.Edits)...)
	}
	if m.Path != "" && m.State == "proposed" {
		blocks = append(blocks, tool.Text("kept in "+m.Path)...)
	}
	return blocks
}
