package session_test

import (
	"context"
	"fmt"

	"adze/session"
	"adze/tool"
)

// A conversation needs four things: a provider that answers, a store that keeps, a set of tools,
// and a gate that decides. Here the provider is written down, and the store forgets everything at
// the end.
func Example() {
	type args struct {
		Name string `json:"name" doc:"whom to greet"`
	}
	type meta struct{}
	var registry tool.Registry
	err := registry.Register(tool.Define("greet", tool.Config[args, meta]{
		Description: "Greet a person.",
		Permissions: tool.Requires(tool.Read),
		Redact:      tool.Expose("name"),
		Run: func(_ context.Context, _ tool.Context[meta], in args) (tool.Result[meta], error) {
			return tool.Result[meta]{Output: "hello, " + in.Name}, nil
		},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := registry.Tools(context.Background(), tool.Init{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := session.New(session.Config{
		Identity: session.Identity{ID: "example"},
		Requests: session.Requests{Model: "written", Provider: &model{steps: []func(context.Context, func(session.Chunk) bool){
			says(call("c1", "greet", `{"name":"Ada"}`)),
			says(text("I greeted her.")),
		}}},
		Calls:   session.Calls{Tools: set, Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })},
		Storage: session.Storage{Store: &shelf{}},
		Host: session.Host{Observe: func(e session.Event) {
			if end, ok := e.(session.ToolEnd); ok {
				fmt.Printf("%s %s: %s\n", end.Outcome.Tool, end.Outcome.Status, end.Outcome.Output)
			}
		}},
	})
	result := s.Prompt(context.Background(), session.Input{Text: "greet Ada"})
	fmt.Println(result.Cause, "after", result.Steps, "requests:", result.Text)
	// Output:
	// greet completed: hello, Ada
	// done after 2 requests: I greeted her.
}
