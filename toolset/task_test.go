package toolset

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/tool"
)

// caseTasks are subagents of a case: .agents/<name>.txt is what each says. A first line such as
// "limit: why" is the failure that ends it. A case without that folder has no subagents.
func caseTasks(dir string) Tasks {
	folder := filepath.Join(dir, ".agents")
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	return writtenTasks{folder}
}

type writtenTasks struct{ folder string }

func (w writtenTasks) Run(_ context.Context, r TaskRequest, progress func(TaskProgress)) (TaskResult, error) {
	r.Agent = cmp.Or(r.Agent, exploreAgent)
	raw, err := os.ReadFile(filepath.Join(w.folder, r.Agent+".txt"))
	if err != nil {
		return TaskResult{}, tool.Fail(tool.CodeInvalidArguments, "there is no agent %q; use one of: explore, general", r.Agent)
	}
	cost := 0.0123
	counts := TaskCounts{Steps: 2, Calls: 3, Tokens: 4567, Cost: &cost}
	progress(TaskProgress{ID: "task1", Agent: r.Agent, State: "works", Last: "✓ grep  3 matches", LatestLine: "I look at", TaskCounts: TaskCounts{Calls: 1}})
	done := TaskResult{ID: cmp.Or(r.ID, "task1"), Agent: r.Agent, Text: strings.TrimSpace(string(raw)), CallLines: []string{"✓ grep  3 matches"}, TaskCounts: counts}
	if r.Agent == "general" {
		done.Changed = []string{"parse.go"}
	}
	first, rest, _ := strings.Cut(done.Text, "\n")
	if code, why, failed := strings.Cut(first, ": "); failed && slices.Contains([]string{tool.CodeLimit, tool.CodeTimeout}, code) {
		done.Text = rest
		return done, fmt.Errorf("%w", tool.Fail(code, "%s", why))
	}
	return done, nil
}
