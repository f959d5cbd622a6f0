package toolset

import (
	"context"
	"strings"

	"adze/tool"
)

type completeArgs struct {
	Summary string `json:"summary" doc:"what was done, how it was checked, what is left"`
}

type completeMeta struct {
	Summary string `json:"summary"`
}

func taskComplete() tool.Tool {
	return tool.Define("task_complete", tool.Config[completeArgs, completeMeta]{
		Description: describe("task_complete"),
		Tags:        []string{"finish", "done", "end"},
		Aliases:     []string{"finish", "attempt_completion", "task_done", "submit"},
		Compat: tool.Compat{
			Args:    map[string]string{"result": "summary", "message": "summary", "answer": "summary", "text": "summary"},
			Ignored: ignored(nil),
		},
		Safety: tool.Safety{Safe: true},
		Redact: tool.Expose("summary"),
		Run: func(_ context.Context, _ tool.Context[completeMeta], in completeArgs) (tool.Result[completeMeta], error) {
			summary := strings.TrimSpace(in.Summary)
			if summary == "" {
				return tool.Result[completeMeta]{}, tool.Fail(tool.CodeInvalidArguments, "the summary is empty; say what was done and how it was checked")
			}
			return tool.Result[completeMeta]{Title: "task complete", Metadata: completeMeta{summary}, Output: summary, Stop: true}, nil
		},
		View: func(m completeMeta) []tool.Block { return tool.Text(m.Summary) },
	})
}
