package toolset

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"adze/tool"
)

func TestRestoreTakesTheLastCompletedList(t *testing.T) {
	list := func(content string) json.RawMessage {
		raw, err := json.Marshal(todoMeta{Todos: []Todo{{Content: content, Status: "pending"}}})
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	deps := Deps{Todos: &Todos{}}
	err := Restorer{deps, "s"}.Restore(slices.Values([]tool.Outcome{
		{Tool: "todowrite", Status: tool.Completed, Metadata: list("old")},
		{Tool: "todowrite", Status: tool.Completed, Metadata: list("new")},
		{Tool: "todowrite", Status: tool.Failed, Metadata: list("refused")},
		{Tool: "bash", Status: tool.Completed, Metadata: json.RawMessage(`{"todos":[{"content":"forged"}]}`)},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := []Todo{{Content: "new", Status: "pending"}}
	if got := deps.Todos.Items(); !slices.Equal(got, want) {
		t.Errorf("todos = %v, want %v", got, want)
	}
}

func TestRestoreReportsDamage(t *testing.T) {
	err := Restorer{Deps{Todos: &Todos{}}, "s"}.Restore(slices.Values([]tool.Outcome{{Call: "c1", Tool: "todowrite", Status: tool.Completed, Metadata: json.RawMessage(`[`)}}))
	if err == nil {
		t.Fatal("no error for metadata that is not JSON")
	}
}

// TestTodosAreSafeTogether is for the race detector: todo calls run beside each other.
func TestTodosAreSafeTogether(t *testing.T) {
	var todos Todos
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 50 {
				todos.Replace([]Todo{{Content: fmt.Sprint(i), Status: "pending"}})
				if n := len(todos.Items()); n != 1 {
					t.Errorf("%d items, want 1", n)
				}
			}
		})
	}
	group.Wait()
}

func TestItemsIsACopy(t *testing.T) {
	var todos Todos
	todos.Replace([]Todo{{Content: "a", Status: "pending"}})
	todos.Items()[0].Content = "b"
	if got := todos.Items()[0].Content; got != "a" {
		t.Errorf("content = %q: the caller reached the list itself", got)
	}
}
