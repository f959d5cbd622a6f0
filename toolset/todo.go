package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"adze/tool"
)

// Todo is one item in the session's list.
type Todo struct {
	Content  string `json:"content" doc:"what is to be done, in one line" offer:"plain"`
	Status   string `json:"status" enum:"pending,in_progress,completed,cancelled" doc:"how far it is" offer:"plain"`
	Priority string `json:"priority,omitempty" enum:"high,medium,low" doc:"default: medium" offer:"-"`
}

// Todos holds one session's list. The zero value is empty. It is safe for concurrent use.
type Todos struct {
	mu    sync.Mutex
	items []Todo
}

// Items returns a copy of the list.
func (t *Todos) Items() []Todo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.items)
}

// Replace sets the whole list and returns the previous one.
func (t *Todos) Replace(items []Todo) []Todo {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.items
	t.items = slices.Clone(items)
	return before
}

// Restore reads the list from a todowrite call's stored metadata, when a session is resumed.
func (t *Todos) Restore(metadata json.RawMessage) error {
	var m todoMeta
	if err := json.Unmarshal(metadata, &m); err != nil {
		return fmt.Errorf("restore todos: %w", err)
	}
	t.Replace(m.Todos)
	return nil
}

type todoArgs struct {
	Todos []Todo `json:"todos" doc:"the whole list, in order; it replaces the old one" offer:"plain"`
}

// todoMeta is drawn by the pane and read by a resumed session.
type todoMeta struct {
	Todos   []Todo   `json:"todos"`
	Changed []string `json:"changed,omitempty"`
}

// maxTodos and maxTodoLength keep the list readable at a glance.
const (
	maxTodos      = 100
	maxTodoLength = 500
)

func todowrite(t *Todos) tool.Tool {
	return tool.Define("todowrite", tool.Config[todoArgs, todoMeta]{
		Description: describe("todowrite", limits{"max": maxTodos}),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"todo", "plan", "tasks", "progress"},
		Aliases:     []string{"todo_write", "update_plan", "write_todos", "update_todo_list", "todos", "manage_todo_list"},
		Compat: tool.Compat{
			Args: map[string]string{
				"plan": "todos", "items": "todos", "tasks": "todos", "todo_list": "todos", "todos/step": "content", "todos/description": "content",
				"todos/task": "content", "todos/text": "content", "todos/title": "content", "todos/todo": "content", "todos/state": "status",
			},
			Values: map[string]map[string]string{
				"status": {
					"done": "completed", "complete": "completed", "finished": "completed", "todo": "pending", "notstarted": "pending", "open": "pending",
					"inprogress": "in_progress", "doing": "in_progress", "active": "in_progress", "canceled": "cancelled",
				},
				"priority": {"normal": "medium"},
			},
			Ignored: ignored(map[string][]any{"merge": {false}, "operation": {"write"}, "id": nil, "active_form": nil, "activity": nil}),
		},
		Safety: tool.Safety{Safe: true},
		Redact: tool.Expose("todos", "changed"),
		Needs:  func(todoArgs) []tool.Need { return tool.StateNeed("the todo list") },
		Run: func(_ context.Context, _ tool.Context[todoMeta], in todoArgs) (tool.Result[todoMeta], error) {
			return writeTodos(t, in.Todos)
		},
		View: viewTodos, Heading: func(_ todoArgs, m todoMeta) tool.Heading { return headTodos(m) },
	})
}

func writeTodos(t *Todos, items []Todo) (tool.Result[todoMeta], error) {
	if err := checkTodos(items); err != nil {
		return tool.Result[todoMeta]{}, err
	}
	for i := range items {
		if items[i].Priority == "" {
			items[i].Priority = "medium"
		}
	}
	before := t.Replace(items)
	meta := todoMeta{Todos: items, Changed: changedTodos(before, items)}
	return tool.Result[todoMeta]{Title: todoTitle(items), Metadata: meta, Output: "saved. " + todoTitle(items)}, nil
}

func checkTodos(items []Todo) error {
	if len(items) > maxTodos {
		return tool.Fail(tool.CodeLimit, "%d todos are too many (at most %d); join small ones", len(items), maxTodos)
	}
	active := 0
	for i, item := range items {
		if strings.TrimSpace(item.Content) == "" {
			return tool.Fail(tool.CodeInvalidArguments, "todo %d has no content; say what is to be done", i+1)
		}
		if len(item.Content) > maxTodoLength {
			return tool.Fail(tool.CodeLimit, "todo %d is %d bytes long (at most %d); one line is enough", i+1, len(item.Content), maxTodoLength)
		}
		if item.Status == "in_progress" {
			active++
		}
	}
	if active > 1 {
		return tool.Fail(tool.CodeInvalidArguments, "%d todos are in_progress; at most one may be: set the others to pending", active)
	}
	return nil
}

func changedTodos(before, after []Todo) (changes []string) {
	old := map[string]string{}
	for _, item := range before {
		old[item.Content] = item.Status
	}
	for _, item := range after {
		status, known := old[item.Content]
		delete(old, item.Content)
		switch {
		case !known:
			changes = append(changes, "added: "+item.Content)
		case status != item.Status:
			changes = append(changes, item.Status+": "+item.Content)
		}
	}
	for _, item := range before {
		if _, gone := old[item.Content]; gone {
			changes = append(changes, "removed: "+item.Content)
		}
	}
	return changes
}

func todoTitle(items []Todo) string {
	done := 0
	for _, item := range items {
		if item.Status == "completed" || item.Status == "cancelled" {
			done++
		}
	}
	return fmt.Sprintf("%d of %d todos done", done, len(items))
}

func viewTodos(m todoMeta) []tool.Block {
	items := make([]tool.Item, len(m.Todos))
	for i, todo := range m.Todos {
		items[i] = tool.Item{Text: todo.Content, State: todo.Status}
		if todo.Priority != "medium" {
			items[i].Note = todo.Priority
		}
	}
	return tool.Checklist(items)
}
