package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/tool"
)

// Tasks runs subagents. Contract: Run returns when the subagent has ended, was aborted by ctx, or could
// not start; progress may be called from any goroutine.
type Tasks interface {
	Run(ctx context.Context, r TaskRequest, progress func(TaskProgress)) (TaskResult, error)
}

// TaskRequest asks for one subagent.
type TaskRequest struct {
	Description, Prompt, Agent string
	ID                         string // continues an earlier task
	Parent                     string // session of the caller
}

// TaskProgress is what the parent's pane shows while the subagent works.
type TaskProgress struct {
	Title string
	Calls int
}

// TaskResult is what a subagent came to.
type TaskResult struct {
	ID    string
	Text  string
	Calls int
}

type taskArgs struct {
	Description string `json:"description" doc:"three to seven words for the person"`
	Prompt      string `json:"prompt" doc:"the whole task: goal, what is known, what to report; it sees nothing else"`
	Agent       string `json:"agent,omitempty" doc:"explore (read-only) or general; default: explore"`
	TaskID      string `json:"task_id,omitempty" doc:"continue this earlier task"`
}

type taskMeta struct {
	TaskID string `json:"task_id,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Last   string `json:"last,omitempty"`
	Calls  int    `json:"calls,omitempty"`
	Error  string `json:"error,omitempty"`
}

func task(tasks Tasks) tool.Tool {
	return tool.Define("task", tool.Config[taskArgs, taskMeta]{
		Description:  describe("task"),
		Permissions:  tool.Requires(tool.Execute),
		Tags:         []string{"subagent", "delegate", "explore"},
		Aliases:      []string{"agent", "subagent"},
		Capabilities: tool.Capabilities{Streaming: true},
		CostClass:    "model",
		Redact:       tool.Expose("description", "agent", "task_id", "calls", "error"),
		// The subagent's own calls pass the gate one by one; starting it touches nothing.
		Needs: nil,
		Run: func(ctx context.Context, c tool.Context[taskMeta], in taskArgs) (tool.Result[taskMeta], error) {
			return runTask(ctx, c, tasks, in)
		},
		View: viewTask,
	})
}

func viewTask(m taskMeta) []tool.Block {
	row := m.Agent + " · " + counted(int64(m.Calls), "call")
	if m.Last != "" {
		row += " · " + m.Last
	}
	if m.Error != "" {
		row += " · " + m.Error
	}
	return tool.List([]string{row})
}

func runTask(ctx context.Context, c tool.Context[taskMeta], tasks Tasks, in taskArgs) (tool.Result[taskMeta], error) {
	if strings.TrimSpace(in.Prompt) == "" {
		return tool.Result[taskMeta]{}, tool.Fail(tool.CodeInvalidArguments, "the prompt is empty; say what is to be done and what to report")
	}
	if in.Agent == "" {
		in.Agent = "explore"
	}
	meta := taskMeta{TaskID: in.TaskID, Agent: in.Agent}
	if tasks == nil {
		meta.Error = tool.CodeNoModel
		return tool.Result[taskMeta]{Title: in.Description, Metadata: meta},
			tool.Fail(tool.CodeNoModel, "subagents cannot run here; do the work yourself with the other tools")
	}
	request := TaskRequest{Description: in.Description, Prompt: in.Prompt, Agent: in.Agent, ID: in.TaskID, Parent: c.SessionID}
	done, err := tasks.Run(ctx, request, func(p TaskProgress) {
		live := meta
		live.Last, live.Calls = p.Title, p.Calls
		c.Metadata(in.Description, live)
	})
	meta.TaskID, meta.Calls = done.ID, done.Calls
	if err != nil {
		return tool.Result[taskMeta]{Title: in.Description, Metadata: meta, Output: done.Text}, fmt.Errorf("the task did not finish: %w", err)
	}
	output := fmt.Sprintf("%s\n(task %s, %d calls)", done.Text, done.ID, done.Calls)
	return tool.Result[taskMeta]{Title: in.Description, Metadata: meta, Output: output}, nil
}
