package toolset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/tool"
)

// caseTasks are subagents of a case: .agents/<name>.txt is what each says. A first line such as "limit: why"
// is the failure that ends it. A case without that folder has no subagents.
func caseTasks(dir string) Tasks {
	folder := filepath.Join(dir, ".agents")
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	return writtenTasks{folder}
}

type writtenTasks struct{ folder string }

func (w writtenTasks) Run(_ context.Context, r TaskRequest, progress func(TaskProgress)) (TaskResult, error) {
	raw, err := os.ReadFile(filepath.Join(w.folder, r.Agent+".txt"))
	if err != nil {
		return TaskResult{}, tool.Fail(tool.CodeInvalidArguments, "there is no agent %q; use one of: explore, general", r.Agent)
	}
	progress(TaskProgress{Title: "reading", Calls: 1})
	done := TaskResult{ID: "task1", Text: strings.TrimSpace(string(raw)), Calls: 3}
	if r.ID != "" {
		done.ID = r.ID
	}
	first, rest, _ := strings.Cut(done.Text, "\n")
	if code, why, failed := strings.Cut(first, ": "); failed && slices.Contains([]string{tool.CodeLimit, tool.CodeTimeout}, code) {
		done.Text = rest
		return done, fmt.Errorf("%w", tool.Fail(code, "%s", why))
	}
	return done, nil
}
