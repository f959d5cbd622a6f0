package script_test

import (
	"context"
	"fmt"

	"adze/internal/llm/script"
	"adze/session"
	"adze/tool"
)

// A script is a conversation: each request gets the next step, if the run is as it was written.
func Example() {
	p := script.New(script.Options{Name: "greet", Script: []byte(`
-- 1 looks around --
expect prompt: files
text: I look.
call list: {"path":"."}
-- 2 --
expect list completed: go.mod
save name: module (\w+)
text: This is ${name}.
`)})
	r := session.Request{Messages: []session.Message{{
		Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "Which files are here?"}},
	}}}
	for range 3 {
		for c := range p.Stream(context.Background(), r) {
			switch c := c.(type) {
			case session.Text:
				fmt.Print(c.Delta)
			case session.Call:
				fmt.Printf(" [%s %s]\n", c.Name, c.Arguments)
				r.Messages = append(r.Messages, session.Message{Role: session.ToolRole, Parts: []session.Part{{
					Kind: session.OutcomePart,
					Outcome: &tool.Outcome{
						Call: c.ID, Tool: "list", Status: tool.Completed, Output: "go.mod: module greet",
					},
				}}})
			case session.Done:
				if c.Err != nil {
					fmt.Printf("\n%v\n", c.Err)
				}
			}
		}
	}
	// Output:
	// I look. [list {"path":"."}]
	// This is greet.
	// greet has no step 3; its last is 2
}
