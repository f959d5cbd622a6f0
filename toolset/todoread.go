package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/tool"
)

type todoReadArgs struct{}

func todoread(t *Todos) tool.Tool {
	return tool.Define("todoread", tool.Config[todoReadArgs, todoMeta]{
		Description: describe("todoread"),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"todo", "plan", "tasks", "progress"},
		Aliases:     []string{"todo_read", "read_todos"},
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("todos"),
		Needs:       func(todoReadArgs) []tool.Need { return tool.StateNeed("the todo list") },
		Run: func(context.Context, tool.Context[todoMeta], todoReadArgs) (tool.Result[todoMeta], error) {
			items := t.Items()
			return tool.Result[todoMeta]{Title: todoTitle(items), Metadata: todoMeta{Todos: items}, Output: listTodos(items)}, nil
		},
		View: viewTodos, Heading: func(_ todoReadArgs, m todoMeta) tool.Heading { return headTodos(m) },
	})
}

func listTodos(items []Todo) string {
	if len(items) == 0 {
		return "the todo list is empty"
	}
	var b strings.Builder
	for i, item := range items {
		fmt.Fprintf(&b, "%d. [%s] %s (%s)\n", i+1, item.Status, item.Content, item.Priority)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
