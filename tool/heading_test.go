package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"adze/tool"
)

type saying struct {
	Text   string `json:"text"`
	Secret string `json:"secret,omitempty"`
}

// A heading is made of what may be logged, and a tool that fails to make one has none.
func TestHeadingsAreMadeOfWhatIsExposed(t *testing.T) {
	for name, heading := range map[string]func(saying, struct{}) tool.Heading{
		"say it": func(in saying, _ struct{}) tool.Heading {
			return tool.Heading{Verb: "say", Object: in.Text + in.Secret}
		},
		"": func(saying, struct{}) tool.Heading { panic("no heading") },
	} {
		r := &tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
		out := execOne(t, r, tool.Define("say", tool.Config[saying, struct{}]{
			Description: "says", Redact: tool.Expose("text"), Permissions: tool.Requires(tool.Read),
			Heading: heading,
			Run: func(context.Context, tool.Context[struct{}], saying) (tool.Result[struct{}], error) {
				return tool.Result[struct{}]{Output: "said"}, nil
			},
		}), `{"text":"it","secret":"hunter2"}`)
		if out.Title != name || strings.Contains(out.Heading.String(), "hunter2") {
			t.Errorf("%q, %+v; want %q", out.Title, out.Heading, name)
		}
	}
}

func TestAHeadingIsOneLine(t *testing.T) {
	for want, h := range map[string]tool.Heading{
		"$ make":                         {Verb: "$", Object: "make", Note: "builds it"},
		"$ make … 3 lines · exit 1":      {Verb: "$", Object: "make\nmake check\ndone\n", Result: "exit 1"},
		"edit cobra.go +1 −1":            {Verb: "edit", Object: "cobra.go", Result: "+1 −1"},
		"calc $ go test":                 tool.HeadingOr(tool.Heading{}, "bash", "Run the tests", json.RawMessage(`{"command":"go test","description":"Run the tests","workdir":"calc"}`)),
		"mystery a.go · x: 1":            tool.HeadingOr(tool.Heading{}, "mystery", "", json.RawMessage(`{"path":"a.go","x":1}`)),
		"mystery what it says of itself": tool.HeadingOr(tool.Heading{}, "mystery", "what it says of itself", nil),
	} {
		if got := h.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
