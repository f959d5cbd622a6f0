package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"adze/tool"
)

type sayArgs struct {
	Text  string `json:"text" doc:"what to say"`
	Times int    `json:"times,omitempty" min:"1" max:"9"`
	Quiet bool   `json:"quiet,omitempty"`
}

type sayMeta struct {
	Said int `json:"said"`
}

type sayConfig = tool.Config[sayArgs, sayMeta]

// say is a small honest tool; changes make it the tool that a test needs.
func say(id string, changes ...func(*sayConfig)) tool.Tool {
	c := sayConfig{
		Description: "says something",
		Permissions: tool.Requires(tool.Read),
		Redact:      tool.Expose("times"),
		Run: func(_ context.Context, _ tool.Context[sayMeta], in sayArgs) (tool.Result[sayMeta], error) {
			return tool.Result[sayMeta]{Title: "said", Output: in.Text, Metadata: sayMeta{Said: 1}}, nil
		},
	}
	for _, change := range changes {
		change(&c)
	}
	return tool.Define(id, c)
}

type runFunc = func(context.Context, tool.Context[sayMeta], sayArgs) (tool.Result[sayMeta], error)

func running(run runFunc) func(*sayConfig) { return func(c *sayConfig) { c.Run = run } }

func needing(needs func(sayArgs) []tool.Need) func(*sayConfig) {
	return func(c *sayConfig) { c.Needs = needs }
}

func writing(c *sayConfig) { c.Permissions = tool.Requires(tool.Write) }

// setOf registers tools and makes a Set of them.
func setOf(t testing.TB, tools ...tool.Tool) *tool.Set {
	t.Helper()
	var r tool.Registry
	for _, one := range tools {
		if err := r.Register(one); err != nil {
			t.Fatal(err)
		}
	}
	set, err := r.Tools(context.Background(), tool.Init{Workspace: "/w", Cwd: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// gate allows everything.
func gate(_ context.Context, _ tool.Question) (tool.Decision, error) {
	return tool.Decision{Allow: true, Rule: "test"}, nil
}

func denying(_ context.Context, _ tool.Question) (tool.Decision, error) {
	return tool.Decision{Reason: "the test says no"}, nil
}

func allowing() *tool.Runner {
	return &tool.Runner{Gate: tool.GateFunc(gate), Session: "s1", Agent: "coder"}
}

// hydrateOne hydrates one call of a set with one tool.
func hydrateOne(t testing.TB, r *tool.Runner, set *tool.Set, arguments string) tool.Hydration {
	t.Helper()
	h := r.Hydrate(t.Context(), set, []tool.RawCall{{ID: "c1", Name: set.Names()[0], Arguments: arguments, Message: "m1"}})
	return h[0]
}

// execOne runs one call of a set with one tool from its text to its outcome.
func execOne(t testing.TB, r *tool.Runner, one tool.Tool, arguments string) tool.Outcome {
	t.Helper()
	return r.Exec(t.Context(), hydrateOne(t, r, setOf(t, one), arguments))
}

func wantStatus(t testing.TB, o tool.Outcome, status tool.Status, code string) {
	t.Helper()
	if o.Status != status || o.Code != code {
		t.Errorf("outcome is %s %q, want %s %q; output: %s", o.Status, o.Code, status, code, o.Output)
	}
	if o.Record.Status != o.Status || o.Record.Code != o.Code {
		t.Errorf("the record says %s %q, the outcome %s %q", o.Record.Status, o.Record.Code, o.Status, o.Code)
	}
}

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// recording runs and remembers what it ran with.
func recording(ran *[]sayArgs) runFunc {
	return func(_ context.Context, _ tool.Context[sayMeta], in sayArgs) (tool.Result[sayMeta], error) {
		*ran = append(*ran, in)
		return tool.Result[sayMeta]{Output: "ran"}, nil
	}
}

func nopNested(context.Context, tool.Context[sayMeta], nestedArgs) (r tool.Result[sayMeta], err error) {
	return r, nil
}

// numeric remembers the arguments it ran with.
func numeric[Args any](got *Args) tool.Tool {
	return tool.Define("numbers", tool.Config[Args, sayMeta]{
		Redact: tool.Expose(),
		Run: func(_ context.Context, _ tool.Context[sayMeta], in Args) (r tool.Result[sayMeta], err error) {
			*got = in
			return r, nil
		},
	})
}
